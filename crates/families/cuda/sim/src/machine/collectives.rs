//! What threads of a warp tell each other.

use super::alu::put;
use super::findings::Fault;
use super::warp::Warp;
use crate::decode::{AtomicOp, ShflMode, VoteMode};

/// Does a shuffle. `lanes` are the threads that take part, of those that `members` names; what
/// comes of a thread that is not named is nothing that a kernel may rely on.
pub(crate) fn shuffle(
    warp: &mut Warp,
    mode: ShflMode,
    (d, p): (u32, Option<u32>),
    (a, b, c): (u32, u32, u32),
    (members, lanes): (u32, u32),
) -> Result<(), (Fault, u32)> {
    let named = warp.words[members as usize];
    let (values, by, bounds) = (
        warp.words[a as usize],
        warp.words[b as usize],
        warp.words[c as usize],
    );
    let mut result = [0; 32];
    let mut in_range = 0;
    for lane in 0..32_u32 {
        let idx = lane as usize;
        if lanes >> lane & 1 == 0 {
            continue;
        }
        let by = by[idx] & 31;
        let clamp = bounds[idx] & 31;
        let segment = bounds[idx] >> 8 & 31;
        let last = lane & segment | clamp & !segment;
        let first = lane & segment;
        let (source, is_in) = match mode {
            ShflMode::Up => {
                let source = lane.wrapping_sub(by);
                (source, (last as i32) <= source as i32)
            }
            ShflMode::Down => (lane + by, lane + by <= last),
            ShflMode::Bfly => (lane ^ by, lane ^ by <= last),
            ShflMode::Idx => {
                let source = first | by & !segment;
                (source, source <= last)
            }
        };
        let source = if is_in { source } else { lane } & 31;
        result[idx] = match lanes >> source & 1 {
            1 => values[source as usize],
            _ if named[idx] >> source & 1 == 1 => {
                let fault = Fault::MissingThreads {
                    members: named[idx],
                    missing: named[idx] & !lanes,
                };
                return Err((fault, lane));
            }
            _ => warp.not_set,
        };
        in_range |= u32::from(is_in) << lane;
    }
    put(&mut warp.words[d as usize], result, lanes);
    if let Some(p) = p {
        let before = &mut warp.predicates[p as usize];
        *before = *before & !lanes | in_range & lanes;
    }
    Ok(())
}

/// Returns the truth of a vote, or the ballot.
pub(crate) fn vote(mode: VoteMode, truths: u32, lanes: u32) -> u32 {
    let truths = truths & lanes;
    match mode {
        VoteMode::All => u32::from(truths == lanes),
        VoteMode::Any => u32::from(truths != 0),
        VoteMode::Uni => u32::from(truths == 0 || truths == lanes),
        VoteMode::Ballot => truths,
    }
}

/// Finds threads with equal values.
pub(crate) fn matched(
    warp: &mut Warp,
    all: bool,
    values: [u64; 32],
    d: u32,
    p: Option<u32>,
    lanes: u32,
) {
    let mut result = [0; 32];
    let mut are_equal = true;
    let first = values[lanes.trailing_zeros().min(31) as usize];
    for (lane, it) in result.iter_mut().enumerate() {
        for other in 0..32 {
            let is_same = lanes >> other & 1 != 0 && values[other] == values[lane];
            *it |= u32::from(is_same) << other;
        }
        are_equal &= lanes >> lane & 1 == 0 || values[lane] == first;
    }
    if all {
        result = [if are_equal { lanes } else { 0 }; 32];
    }
    put(&mut warp.words[d as usize], result, lanes);
    if let Some(p) = p {
        let before = &mut warp.predicates[p as usize];
        *before = *before & !lanes | if are_equal { lanes } else { 0 };
    }
}

/// Returns what comes of the values of all threads.
pub(crate) fn reduced(op: AtomicOp, signed: bool, values: [u32; 32], lanes: u32) -> u32 {
    let taken = (0..32)
        .filter(|lane| lanes >> lane & 1 != 0)
        .map(|lane| values[lane as usize]);
    let reduced = taken.reduce(|a, b| match (op, signed) {
        (AtomicOp::Min, true) => (a as i32).min(b as i32) as u32,
        (AtomicOp::Max, true) => (a as i32).max(b as i32) as u32,
        (AtomicOp::Min, false) => a.min(b),
        (AtomicOp::Max, false) => a.max(b),
        (AtomicOp::And, _) => a & b,
        (AtomicOp::Or, _) => a | b,
        (AtomicOp::Xor, _) => a ^ b,
        _ => a.wrapping_add(b),
    });
    reduced.unwrap_or(0)
}

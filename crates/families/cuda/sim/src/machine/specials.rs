//! Special registers: what threads know of themselves, of their block and of the launch.

use super::launch::{Launch, Order};
use super::warp::Warp;
use crate::decode::{Kernel, SPECIAL};

/// SMs that a kernel sees. What `%smid` and `%warpid` are is up to the device, and may change
/// while a thread runs (PTX ISA): nothing can be relied on but that they are below this number
/// and `%nwarpid`.
const SMS: u32 = 4;
/// Places of warps that an SM has.
const WARPS: u32 = 64;

/// Where a special register lies among all.
const fn place_of(name: &str) -> usize {
    let mut at = 0;
    while !is_same(SPECIAL[at].as_bytes(), name.as_bytes()) {
        at += 1;
    }
    at
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Where `%ctaid.x` lies among special registers; `%ctaid.y` and `%ctaid.z` follow.
const POSITION: usize = {
    let at = place_of("%ctaid.x");
    assert!(at + 1 == place_of("%ctaid.y") && at + 2 == place_of("%ctaid.z"));
    at
};

/// Sets all special registers of a warp but the position of its block. No kernel can write
/// them, so that they hold for all blocks of the launch.
pub(super) fn fill(warp: &mut Warp, kernel: &Kernel, launch: &Launch) {
    let first = kernel.first_special as usize;
    for (idx, name) in SPECIAL.iter().enumerate() {
        let of = |lane: u32| {
            let thread = launch.thread(warp.number * 32 + lane);
            match *name {
                "%tid.x" => thread[0],
                "%tid.y" => thread[1],
                "%tid.z" => thread[2],
                "%ntid.x" => launch.block[0],
                "%ntid.y" => launch.block[1],
                "%ntid.z" => launch.block[2],
                "%nctaid.x" => launch.grid[0],
                "%nctaid.y" => launch.grid[1],
                "%nctaid.z" => launch.grid[2],
                "%laneid" => lane,
                "%nwarpid" => WARPS,
                "%lanemask_eq" => 1 << lane,
                "%lanemask_lt" => (1 << lane) - 1,
                "%lanemask_le" => ((1_u64 << (lane + 1)) - 1) as u32,
                "%lanemask_gt" => !(((1_u64 << (lane + 1)) - 1) as u32),
                "%lanemask_ge" => !((1 << lane) - 1),
                "%dynamic_smem_size" => launch.dynamic_shared,
                "%total_smem_size" => launch.shared_bytes(kernel) as u32,
                "%nsmid" => SMS,
                _ => 0,
            }
        };
        for lane in 0..32 {
            warp.words[first + idx][lane as usize] = of(lane);
        }
    }
}

/// Sets what differs from block to block: the position of the block `number`, and where it
/// runs. Where the last block is the first, all run on one SM, and every second place for a warp
/// is taken by what the SM runs beside.
pub(super) fn place(
    warp: &mut Warp,
    kernel: &Kernel,
    (number, order): (u32, Order),
    position: [u32; 3],
) {
    let (sm, slot) = match order {
        Order::Backward => (2, 2 * warp.number + number),
        _ => (number % SMS * 3 + 1, warp.number + 32 + 7 * number),
    };
    for (name, value) in [("%smid", sm % SMS), ("%warpid", slot % WARPS)] {
        warp.words[kernel.first_special as usize + place_of(name)] = [value; 32];
    }
    let first = kernel.first_special as usize + POSITION;
    for (word, value) in warp.words[first..].iter_mut().zip(position) {
        *word = [value; 32];
    }
}

//! Experiments: what the kernel would take on a machine without one of its
//! costs. Nothing is estimated; the whole call is simulated anew.

use crate::cause::Cause;
use crate::platform::GemminiPlatform;
use crate::profile::{Profile, Removal, WhatIf};
use autocomp_bare_metal::{Session, SessionKind, Trial};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_gemmini::{Checks, Severity};
use autocomp_riscv::{Limits, Mode};
use std::collections::BTreeSet;

/// Takes away the costs that `profile` names, one at a time, and writes its
/// paragraph anew. `case` is that of the calls, `ranked` says which of them
/// counts, `values` whether cycles may depend on what the accelerator computes.
pub(super) fn experiment(
    trial: &Trial<'_, GemminiPlatform>,
    profile: &mut Profile,
    case: &Case,
    ranked: usize,
    values: bool,
) -> Result<(), EvalError> {
    // Without the core's part nothing would be left.
    if !profile.uses_accelerator() {
        return Ok(());
    }
    let mut removals = BTreeSet::new();
    for loss in profile.losses() {
        removals.extend(profile.removal(loss.cause));
        // Whether more entries would do instead is worth knowing too.
        if matches!(loss.cause, Cause::LoadEntries | Cause::StoreEntries) {
            removals.insert(Removal::Entries);
        }
    }
    if profile.writes_back() {
        removals.insert(Removal::WriteBacks);
    }
    for removal in removals {
        if let Some(cycles) = cycles_without(trial, removal, values, case, ranked)? {
            // The core may do a part of the task that then takes no time.
            let cycles = cycles.max(profile.ideal_cycles);
            profile.what_if.push(WhatIf {
                without: removal,
                cycles,
                gain: profile.cycles.saturating_sub(cycles),
            });
        }
    }
    profile.what_if.sort_by_key(|it| it.cycles);
    profile.describe();
    Ok(())
}

/// Returns the cycles of call number `ranked`; nothing if a call does not
/// complete, which it did on the real machine.
fn cycles_without(
    trial: &Trial<'_, GemminiPlatform>,
    cost: Removal,
    values: bool,
    case: &Case,
    ranked: usize,
) -> Result<Option<u64>, EvalError> {
    let (evaluator, platform) = (trial.evaluator, trial.evaluator.platform());
    // For cycles only, unless values matter.
    let kind = SessionKind {
        values,
        ..SessionKind::plain(Mode::Timed)
    };
    let mut session = Session::on(
        platform,
        |memory_bytes| platform.machine_without(cost, memory_bytes),
        trial.program,
        evaluator.problem(),
        kind,
        evaluator.problem_seed(),
    )?;
    // What clashes on a machine that there is not says nothing.
    session.unit().functional_mut().set_checks(Checks {
        hazards: Severity::Off,
        ..Checks::default()
    });
    let mut limits = evaluator.limits();
    if cost == Removal::Core {
        limits = Limits {
            cycles: u64::MAX,
            ..limits
        };
    }
    let mut cycles = None;
    for call in 0..=ranked {
        // As the calls themselves were made. Without the core commands are all there
        // when a call begins only if the accelerator's time has begun before.
        let is_warming = !values && call < ranked && cost != Removal::Core;
        session.set_warming(is_warming);
        session.forget_calls()?;
        session.place(case, trial.timed_seed())?;
        let idle = |session: &mut Session<'_, GemminiPlatform>| {
            let engine = session.unit().timing_mut();
            engine.map_or(0, |engine| engine.drain())
        };
        let before = idle(&mut session);
        let Ok(report) = session.call(limits) else {
            return Ok(None);
        };
        cycles = Some(match cost {
            Removal::Core => idle(&mut session) - before,
            _ => report.cycles,
        });
    }
    Ok(cycles)
}

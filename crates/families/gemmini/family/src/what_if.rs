//! Experiments: what the kernel would take on a machine without one of its
//! costs. Nothing is estimated; the whole call is simulated anew.

use super::session::Session;
use super::trial::Trial;
use crate::cause::Cause;
use crate::profile::{Profile, Removal, WhatIf};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_riscv::Limits;
use std::collections::BTreeSet;

impl Trial<'_> {
    /// Takes away the costs that `profile` names, one at a time, and writes its
    /// paragraph anew. `case` is that of the calls, `ranked` says which of them
    /// counts, `values` whether cycles may depend on what the accelerator computes.
    pub(super) fn experiment(
        &self,
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
            if let Some(cycles) = self.cycles_without(removal, values, case, ranked)? {
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
        &self,
        cost: Removal,
        values: bool,
        case: &Case,
        ranked: usize,
    ) -> Result<Option<u64>, EvalError> {
        let evaluator = self.evaluator;
        let mut session = Session::without(
            cost,
            values,
            &evaluator.engine,
            self.program,
            &evaluator.problem,
            evaluator.problem_seed(),
        )?;
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
            session.place(case, self.timed_seed())?;
            let idle = |session: &mut Session<'_>| {
                let engine = session.accelerator().timing_mut();
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
}

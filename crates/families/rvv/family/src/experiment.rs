//! Experiments: what a call would take on a machine that lacks one of its costs. Nothing is
//! estimated; the calls are simulated anew.

use crate::machine::Machine;
use crate::platform::RvvPlatform;
use crate::profile::{VectorProfile, Without};
use crate::texts::TEXTS;
use autocomp_bare_metal::{Session, SessionKind, Trial};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_riscv::{ScalarClass, VectorClass};

/// A cost that can be left out: the name of its text, and what leaves it out.
type Removal = (&'static str, fn(&mut Machine));

const REMOVALS: [Removal; 6] = [
    ("caches", |machine| {
        for level in &mut machine.core.levels {
            level.latency = 0;
            level.read_line_cycles = 0.0;
            level.write_line_cycles = 0.0;
        }
    }),
    ("accesses", |machine| {
        each_vector_cost(machine, VectorClass::is_access, |row| {
            row.busy.clear();
            row.masked.clear();
            (row.per_group, row.per_element, row.per_capacity) = (0.0, 0.0, 0.0);
            row.latency = vec![0.0];
        });
    }),
    ("elements", |machine| {
        let vector = machine.core.vector.as_mut();
        let Some(vector) = vector else { return };
        for plain in [VectorClass::Load, VectorClass::Store] {
            let is_other =
                |class: VectorClass| class.is_by_element() && class.is_store() == plain.is_store();
            let row = vector.costs.iter().find(|it| it.classes.contains(&plain));
            let Some(row) = row.cloned() else { return };
            for other in &mut vector.costs {
                if other.classes.iter().any(|class| is_other(*class)) {
                    let classes = std::mem::take(&mut other.classes);
                    *other = row.clone();
                    other.classes = classes;
                }
            }
        }
    }),
    ("results", |machine| {
        each_vector_cost(
            machine,
            |class| !class.is_access(),
            |row| {
                row.latency = vec![0.0];
                row.chains = true;
            },
        );
    }),
    ("lengths", |machine| {
        for row in &mut machine.core.scalar {
            if row.classes.contains(&ScalarClass::Configure) {
                row.latency = 1;
            }
        }
    }),
    ("branches", |machine| {
        machine.core.branches.mispredict_cycles = 0.0;
    }),
];

fn each_vector_cost(
    machine: &mut Machine,
    applies: impl Fn(VectorClass) -> bool,
    change: impl Fn(&mut autocomp_riscv::VectorCost),
) {
    let vector = machine.core.vector.as_mut();
    for row in vector.into_iter().flat_map(|it| &mut it.costs) {
        if row.classes.iter().any(|class| applies(*class)) {
            change(row);
        }
    }
}

/// Leaves out one cost after the other, and adds what that changes to a profile. `case` is that
/// of the calls; which of them counts and whether values matter follows.
pub(crate) fn experiment(
    platform: &RvvPlatform,
    trial: &Trial<'_, RvvPlatform>,
    profile: &mut VectorProfile,
    case: &Case,
    (ranked, values): (usize, bool),
) -> Result<(), EvalError> {
    for (name, remove) in REMOVALS {
        let cost = TEXTS.experiments.of(name);
        let mut machine = platform.machine.clone();
        remove(&mut machine);
        let kind = SessionKind {
            values,
            ..SessionKind::plain(autocomp_riscv::Mode::Timed)
        };
        let evaluator = trial.evaluator;
        let mut session = Session::on(
            evaluator.platform(),
            |bytes| Ok(platform.simulated(&machine, kind.mode, bytes)),
            trial.program,
            evaluator.problem(),
            kind,
            evaluator.problem_seed(),
        )?;
        let mut cycles = None;
        for _ in 0..=ranked {
            session.forget_calls()?;
            session.place(case, trial.timed_seed())?;
            cycles = session.call(evaluator.limits()).ok().map(|it| it.cycles);
        }
        // What changes nothing is not told.
        if let Some(cycles) = cycles.filter(|cycles| 100 * cycles < 99 * profile.cycles) {
            profile.without.push(Without { cost, cycles });
        }
    }
    profile.without.sort_by_key(|it| it.cycles);
    Ok(())
}

//! Timing of cores that issue in order, several instructions a cycle, with a vector unit behind
//! a queue: what each instruction waits for, without a look at single cycles.
//!
//! An instruction issues when its predecessor has, a place to issue is free, its registers are
//! ready and its unit has time. Vector instructions leave the scalar pipeline for a queue and
//! begin there by the same rules; the scalar pipeline waits only when the queue is full or a
//! scalar result is needed. All numbers come from a [`ScoreboardConfig`].

mod branches;
mod config;
mod hierarchy;
mod plans;
mod profile;
mod sources;
mod vectors;

pub use config::{
    BranchTiming, MemoryLevel, ScalarClass, ScalarCost, ScoreboardConfig, VectorCost, VectorTiming,
};
pub use profile::{Cause, Spent};

use crate::float::{FloatForm, FloatOperation};
use crate::instruction::{DISCARD, Instruction, Operation};
use crate::predictor::Transfer;
use crate::vector::VectorUnit;
use branches::Branches;
use hierarchy::Hierarchy;
use profile::Profile;
pub(crate) use sources::Sources;
use vectors::Vectors;
pub(crate) use vectors::{ELEMENTS, NONE, RUN, VectorIssue};

/// Parts of a cycle in which time is counted.
pub(crate) const PARTS: u64 = 16;

/// Returns cycles as parts of one.
fn parts(cycles: f64) -> u64 {
    (cycles * PARTS as f64).round().max(0.0) as u64
}

/// What an instruction of a class costs, in parts of a cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// The unit, 0 for none.
    unit: u8,
    busy: u64,
    latency: u64,
}

/// Units at most; a power of two.
const UNITS: usize = 16;

/// The state of the core's timing.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    costs: [Cost; 32],
    /// Parts of a cycle that one place to issue takes.
    slot: u64,
    /// When units have time again; no unit has time at once.
    free: [u64; UNITS],
    /// When registers are ready: integer, then floating-point ones. That of `x0` stays 0. As many
    /// as a byte can name, so that no index needs a check.
    ready: [u64; 256],
    hierarchy: Hierarchy,
    branches: Branches,
    vectors: Option<Box<Vectors>>,
    profile: Option<Box<Profile>>,
    config: ScoreboardConfig,
}

impl Scoreboard {
    /// Makes one with cold caches. What is wrong with the numbers costs nothing; see
    /// [`ScoreboardConfig::check`].
    pub fn new(config: &ScoreboardConfig) -> Self {
        let mut units = vec![String::new()];
        let mut costs = [Cost::default(); 32];
        for row in &config.scalar {
            let unit = row.unit.as_ref();
            let cost = Cost {
                unit: unit.map_or(0, |name| unit_of(name, &mut units)),
                busy: unit.map_or(0, |_| parts(row.busy)),
                latency: row.latency * PARTS,
            };
            for class in &row.classes {
                costs[*class as usize] = cost;
            }
        }
        let vectors = config.vector.as_ref();
        Self {
            costs,
            slot: PARTS / config.issue_width.clamp(1, PARTS),
            free: [0; UNITS],
            ready: [0; 256],
            hierarchy: Hierarchy::new(config),
            branches: Branches::new(&config.branches),
            vectors: vectors.map(|timing| Box::new(Vectors::new(timing, &mut units))),
            profile: None,
            config: config.clone(),
        }
    }

    /// Empties caches and predictors.
    pub fn cool(&mut self) {
        self.hierarchy = Hierarchy::new(&self.config);
        self.branches = Branches::new(&self.config.branches);
    }

    /// Begins to note what cycles are spent on, for code from `base` on.
    pub fn note_causes(&mut self, base: u64) {
        self.profile = Some(Box::new(Profile::new(base)));
    }

    /// Forgets what has been noted, and goes on noting if it did.
    pub fn forget_causes(&mut self) {
        if let Some(profile) = &mut self.profile {
            profile.clear();
        }
    }

    /// Returns what has been noted: by address.
    pub fn causes(&self) -> Vec<(u64, Spent)> {
        self.profile
            .as_ref()
            .map_or(Vec::new(), |it| it.spent(self.slot))
    }

    /// Returns when everything is over that has been issued, which is no earlier than `now`.
    pub fn drained(&self, now: u64) -> u64 {
        self.vectors
            .as_ref()
            .map_or(now, |it| it.course.over.max(now))
    }

    /// Returns whether causes of cycles are noted. The functions below are compiled for both cases,
    /// by their parameter `NOTES`.
    #[inline(always)]
    pub fn notes_causes(&self) -> bool {
        self.profile.is_some()
    }

    /// Lets an instruction issue that may at `now` and reads the first `READ` of these registers;
    /// returns when it does. `result` is the register that it writes, 0 for none.
    #[inline(always)]
    pub fn issue<const NOTES: bool, const READ: usize>(
        &mut self,
        sources: Sources,
        class: u16,
        result: u8,
        now: u64,
        pc: u64,
    ) -> u64 {
        let cost = &self.costs[usize::from(class) % 32];
        let start = self.wait::<READ>(sources, now);
        let mut begun = start;
        // What needs no unit leaves nothing in memory that the host would wait for.
        if cost.unit != 0 {
            let free = &mut self.free[usize::from(cost.unit) % UNITS];
            begun = start.max(*free);
            *free = begun + cost.busy;
        }
        if result != 0 {
            // A second instruction of a cycle gives its result as early as the first.
            self.ready[usize::from(result)] = begun / PARTS * PARTS + cost.latency;
        }
        if NOTES {
            self.note_issue([now, start, begun], sources, class, result, pc);
        }
        begun
    }

    /// Notes when an instruction could have issued, when its registers were ready, and when its
    /// unit had time.
    #[cold]
    #[inline(never)]
    fn note_issue(
        &mut self,
        [now, start, begun]: [u64; 3],
        sources: Sources,
        class: u16,
        result: u8,
        pc: u64,
    ) {
        let Some(profile) = &mut self.profile else {
            return;
        };
        profile.issued(pc);
        let cause = profile.cause(sources.bits());
        profile.add(pc, cause, start - now);
        profile.add(pc, Cause::Unit, begun - start);
        if result != 0 {
            profile.produced(result, false, class == ScalarClass::Configure as u16);
        }
    }

    /// Notes that cycles were spent at an address.
    #[cold]
    #[inline(never)]
    fn note(&mut self, pc: u64, cause: Cause, spent: u64) {
        if let Some(profile) = &mut self.profile {
            profile.add(pc, cause, spent);
        }
    }

    #[inline(always)]
    fn wait<const READ: usize>(&self, sources: Sources, now: u64) -> u64 {
        let ready = |idx: usize| self.ready[usize::from(sources.0[idx])];
        match READ {
            1 => now.max(ready(0)),
            2 => now.max(ready(0).max(ready(1))),
            _ => now.max(ready(2)).max(ready(0).max(ready(1))),
        }
    }

    /// Returns when one behind that issued at `begun` may issue.
    #[inline(always)]
    pub fn behind(&self, begun: u64) -> u64 {
        begun + self.slot
    }

    /// The result of a load that issued at `begun` comes from memory.
    #[inline(always)]
    pub fn load<const NOTES: bool>(&mut self, address: u64, bytes: u64, result: u8, begun: u64) {
        let from_lines = self.hierarchy.load(address, bytes, begun);
        let mut there = from_lines;
        if let Some(vectors) = &self.vectors {
            there = there.max(vectors.course.stored(address, bytes));
        }
        if there > begun && result != 0 {
            let late = there - begun;
            self.ready[usize::from(result)] += late;
            if NOTES && let Some(profile) = &mut self.profile {
                // What a vector store still writes is no late line.
                profile.produced(result, there == from_lines, false);
            }
        }
    }

    /// Returns when one behind a store that issued at `begun` may issue.
    #[inline(always)]
    pub fn store<const NOTES: bool>(
        &mut self,
        address: u64,
        bytes: u64,
        begun: u64,
        pc: u64,
    ) -> u64 {
        let goes_on = self.hierarchy.store(address, bytes, begun);
        if NOTES && goes_on > begun {
            self.note(pc, Cause::Cache, goes_on - begun);
        }
        goes_on + self.slot
    }

    /// Lets an instruction of the vector unit, which is configured as `state` says, issue that
    /// may at `now`; returns when one behind it may.
    #[inline(always)]
    pub fn vector<const NOTES: bool, const ACCESS: u8>(
        &mut self,
        sources: Sources,
        issue: VectorIssue,
        result: u8,
        state: &VectorUnit,
        now: u64,
    ) -> u64 {
        let start = self.wait::<3>(sources, now);
        if NOTES && let Some(profile) = &mut self.profile {
            profile.issued(issue.pc);
            let cause = profile.cause(sources.bits());
            profile.add(issue.pc, cause, start - now);
        }
        let Some(vectors) = &mut self.vectors else {
            return start + self.slot;
        };
        let profile = self.profile.as_deref_mut().filter(|_| NOTES);
        let begun = vectors.course.place(start, profile);
        let (free, hierarchy) = (&mut self.free, &mut self.hierarchy);
        let ready = vectors.send::<ACCESS>(issue, state, begun, free, hierarchy);
        if result != 0 {
            self.ready[usize::from(result)] = ready;
            if NOTES && let Some(profile) = &mut self.profile {
                profile.produced(result, false, false);
            }
        }
        begun + self.slot
    }

    /// Returns when an instruction at `pc` can issue at the earliest: it has to be fetched.
    #[inline(always)]
    pub fn fetch<const NOTES: bool>(&mut self, pc: u64, now: u64) -> u64 {
        let there = self.hierarchy.fetch(pc, now);
        if NOTES && there > now {
            self.note(pc, Cause::Fetch, there - now);
        }
        there
    }

    /// Returns when one behind a branch that issued at `begun` may issue.
    #[inline(always)]
    pub fn branch<const NOTES: bool>(&mut self, taken: bool, begun: u64, pc: u64) -> u64 {
        let (lost, missed) = self.branches.branch(pc, taken);
        self.transferred::<NOTES>(lost, missed, begun, pc)
    }

    /// The same for a jump to `target`.
    pub fn jump<const NOTES: bool>(
        &mut self,
        kind: Transfer,
        target: u64,
        begun: u64,
        pc: u64,
    ) -> u64 {
        let (lost, missed) = self.branches.jump(pc, target, kind, pc + 4);
        self.transferred::<NOTES>(lost, missed, begun, pc)
    }

    #[inline(always)]
    fn transferred<const NOTES: bool>(
        &mut self,
        lost: u64,
        missed: bool,
        begun: u64,
        pc: u64,
    ) -> u64 {
        if NOTES {
            let cause = match missed {
                true => Cause::Mispredict,
                false => Cause::Branch,
            };
            self.note(pc, cause, lost);
        }
        // What follows a taken branch or a mistake issues in another cycle.
        match lost {
            0 => begun + self.slot,
            _ => (begun / PARTS + 1) * PARTS + lost,
        }
    }
}

fn unit_of(name: &str, units: &mut Vec<String>) -> u8 {
    let known = units.iter().position(|unit| unit == name);
    let place = known.unwrap_or_else(|| {
        units.push(name.to_owned());
        units.len() - 1
    });
    place.min(UNITS - 1) as u8
}

/// Returns the class of an instruction that is not one of the vector unit.
pub(crate) fn class_of(instruction: &Instruction) -> ScalarClass {
    use Operation as O;
    use ScalarClass as C;
    match instruction.operation {
        O::Constant => C::Constant,
        O::Lb | O::Lh | O::Lw | O::Ld | O::Lbu | O::Lhu | O::Lwu => C::Load,
        O::Sb | O::Sh | O::Sw | O::Sd => C::Store,
        O::Flh | O::Flw | O::Fld => C::FloatLoad,
        O::Fsh | O::Fsw | O::Fsd => C::FloatStore,
        O::Mul | O::Mulh | O::Mulhsu | O::Mulhu => C::Multiply,
        O::Mulw => C::MultiplyWord,
        O::Div | O::Divu | O::Rem | O::Remu => C::Divide,
        O::Divw | O::Divuw | O::Remw | O::Remuw => C::DivideWord,
        O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => C::Branch,
        O::Jal | O::Jalr => C::Jump,
        O::LrW | O::LrD | O::ScW | O::ScD | O::AmoW | O::AmoD => C::Atomic,
        O::Fused | O::HalfFused => C::FloatFused,
        O::Float | O::Half => class_of_float(FloatForm::unpack(instruction.extra)),
        O::Vector => C::Configure,
        O::Illegal
        | O::Continue
        | O::Fence
        | O::FenceI
        | O::Ecall
        | O::Ebreak
        | O::Mret
        | O::Wfi
        | O::Csr
        | O::Custom => C::System,
        _ => C::Simple,
    }
}

fn class_of_float(form: FloatForm) -> ScalarClass {
    use FloatOperation as F;
    use ScalarClass as C;
    match form.operation {
        F::Add | F::Subtract | F::Multiply | F::Minimum | F::Maximum if form.double => {
            C::FloatDouble
        }
        F::Add | F::Subtract | F::Multiply | F::Minimum | F::Maximum => C::FloatAdd,
        F::Divide if form.double => C::FloatDivideDouble,
        F::Divide => C::FloatDivide,
        F::SquareRoot if form.double => C::FloatRootDouble,
        F::SquareRoot => C::FloatRoot,
        F::SignCopy | F::SignNegate | F::SignXor => C::FloatSign,
        F::ToOtherFormat | F::FromInteger | F::MoveFromInteger => C::FloatFromInteger,
        F::LessEqual | F::Less | F::Equal | F::ToInteger | F::MoveToInteger | F::Classify => {
            C::FloatToInteger
        }
    }
}

/// Returns the register that an instruction writes: an integer one, 32 more for a floating-point
/// one, 0 for none.
pub(crate) fn result_of(instruction: &Instruction) -> u8 {
    use Operation as O;
    let Instruction {
        operation,
        rd,
        extra,
        immediate,
        ..
    } = *instruction;
    let is_float = match operation {
        O::Flh | O::Flw | O::Fld | O::Fused | O::HalfFused => true,
        O::Float | O::Half => FloatForm::unpack(extra).writes_float(),
        // `vfmv.f.s`.
        O::Vector => immediate >> 12 & 7 == 1,
        O::Sb | O::Sh | O::Sw | O::Sd | O::Fsh | O::Fsw | O::Fsd => return 0,
        O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu => return 0,
        _ => false,
    };
    match (is_float, rd) {
        (true, rd) => 32 + (rd & 31),
        (false, DISCARD) => 0,
        (false, rd) => rd & 31,
    }
}

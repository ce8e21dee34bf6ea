//! What cycles are spent on, by the address of the instruction.

use super::PARTS;

/// What an instruction waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// A place to issue: what it costs at least.
    #[default]
    Issue,
    /// The result of another instruction.
    Dependency,
    /// Its unit, which others kept busy.
    Unit,
    /// The port to memory, which others kept busy.
    MemoryPort,
    /// The port to memory, which a strided, indexed or segment access kept busy.
    Elements,
    /// A line that was not in the first cache.
    Cache,
    /// Code that was not in the first cache.
    Fetch,
    /// A branch or jump that was foreseen.
    Branch,
    /// A branch or jump that was not.
    Mispredict,
    /// `vl`, which `vsetvli` gave late.
    Configuration,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Issue,
        Self::Dependency,
        Self::Unit,
        Self::MemoryPort,
        Self::Elements,
        Self::Cache,
        Self::Fetch,
        Self::Branch,
        Self::Mispredict,
        Self::Configuration,
    ];

    /// Returns its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Dependency => "dependency",
            Self::Unit => "unit",
            Self::MemoryPort => "memory port",
            Self::Elements => "element by element",
            Self::Cache => "cache",
            Self::Fetch => "fetch",
            Self::Branch => "taken branch",
            Self::Mispredict => "mispredicted branch",
            Self::Configuration => "vsetvl",
        }
    }
}

/// What the instruction at an address cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// How often it was executed.
    pub count: u64,
    /// Cycles by [`Cause::ALL`].
    pub cycles: [f64; 10],
}

/// How often an instruction was executed, and what it cost beside places to issue, in parts of a
/// cycle.
type Counts = (u64, [u64; 10]);

/// All that has been noted.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    base: u64,
    /// By halfwords from `base` on.
    counts: Vec<Counts>,
    /// Registers whose value came late from memory, and those that hold a `vl`, by their bits.
    late: u64,
    lengths: u64,
}

/// Code that lies further behind is not noted.
const FURTHEST: u64 = 1 << 24;

impl Profile {
    pub fn new(base: u64) -> Self {
        Self {
            base,
            counts: Vec::new(),
            late: 0,
            lengths: 0,
        }
    }

    pub fn clear(&mut self) {
        *self = Self::new(self.base);
    }

    #[inline(always)]
    fn of(&mut self, pc: u64) -> Option<&mut Counts> {
        let place = (pc.wrapping_sub(self.base) / 2) as usize;
        if place >= self.counts.len() {
            self.make_room(place)?;
        }
        self.counts.get_mut(place)
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, place: usize) -> Option<()> {
        let is_near = (place as u64) < FURTHEST / 2;
        is_near.then(|| self.counts.resize(place + 1, (0, [0; 10])))
    }

    #[inline(always)]
    pub fn add(&mut self, pc: u64, cause: Cause, spent: u64) {
        if spent > 0
            && let Some(counts) = self.of(pc)
        {
            counts.1[cause as usize] += spent;
        }
    }

    #[inline(always)]
    pub fn issued(&mut self, pc: u64) {
        if let Some(counts) = self.of(pc) {
            counts.0 += 1;
        }
    }

    /// Notes where the value of a register comes from.
    pub fn produced(&mut self, register: u8, is_late: bool, is_length: bool) {
        let bit = 1 << (register & 63);
        for (bits, is_set) in [(&mut self.late, is_late), (&mut self.lengths, is_length)] {
            *bits = if is_set { *bits | bit } else { *bits & !bit };
        }
    }

    /// Returns why registers are waited for.
    pub fn cause(&self, uses: u64) -> Cause {
        if uses & self.late != 0 {
            Cause::Cache
        } else if uses & self.lengths != 0 {
            Cause::Configuration
        } else {
            Cause::Dependency
        }
    }

    /// Returns what has been noted, where a place to issue is a `slot` long.
    pub fn spent(&self, slot: u64) -> Vec<(u64, Spent)> {
        let used = self.counts.iter().enumerate().filter(|(_, it)| it.0 > 0);
        used.map(|(place, (count, parts))| {
            let mut parts = *parts;
            parts[Cause::Issue as usize] += count * slot;
            let cycles = parts.map(|it| it as f64 / PARTS as f64);
            let pc = self.base + 2 * place as u64;
            (
                pc,
                Spent {
                    count: *count,
                    cycles,
                },
            )
        })
        .collect()
    }
}

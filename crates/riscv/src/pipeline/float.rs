//! The floating-point unit: its write port and its divider.
//!
//! *Source*: Rocket Chip, `FPU`.

use super::{Pipeline, WRITE_BACK};
use crate::config::CoreConfig;
use crate::float::{FloatForm, FloatOperation, divider_cycles};
use crate::instruction::FLOAT_UNIT;

/// Cycles from decode to the memory stage, in which the unit refuses what it cannot
/// take.
const MEMORY: u64 = WRITE_BACK - 1;

/// State of the unit.
#[derive(Clone, Debug)]
pub(super) struct FloatUnit {
    /// Cycles from the issue of an addition or multiplication until its result is
    /// written, and until it can be used: in single and in double precision.
    arithmetic: [Latency; 2],
    /// The same for what needs no adder.
    short: Latency,
    /// Cycles in which the last two results are written that came through a pipeline,
    /// the newest one first.
    writes: [u64; 2],
    /// Cycle in which the divider has its result.
    divided: u64,
    /// Write-back cycle of the last operation with an integer result.
    compared: u64,
}

#[derive(Clone, Copy, Debug)]
struct Latency {
    written: u64,
    used: u64,
}

impl FloatUnit {
    pub fn new(config: &CoreConfig) -> Self {
        let arithmetic = |used| {
            // What takes longer is looked for on a scoreboard, which knows of the write
            // a cycle later.
            let late = used > WRITE_BACK + 1;
            Latency {
                written: used - u64::from(late),
                used,
            }
        };
        Self {
            arithmetic: [
                arithmetic(config.float_single_latency),
                arithmetic(config.float_double_latency),
            ],
            short: Latency {
                written: WRITE_BACK,
                used: config.float_short_latency,
            },
            writes: [0; 2],
            divided: 0,
            compared: 0,
        }
    }

    /// Takes the write port in cycle `write`; returns whether it was free.
    #[inline(always)]
    fn reserve(&mut self, write: u64) -> bool {
        // Of those before only the last two can still be on their way then.
        let [last, before] = self.writes;
        let free = last != write && before != write;
        if free {
            self.writes = [write, last];
        }
        free
    }
}

impl Pipeline {
    /// Executes a floating-point operation that issues at `issue` and writes register
    /// `rd` of its file; `a` and `b` are the registers it reads. Returns whether the
    /// unit takes it: if not, it has to issue again.
    pub fn float(&mut self, issue: u64, form: FloatForm, rd: u8, a: u64, b: u64) -> bool {
        use FloatOperation as F;
        match form.operation {
            F::Add | F::Subtract | F::Multiply => self.float_arithmetic(issue, form.double, rd),
            F::Divide | F::SquareRoot => self.float_divide(issue, rd, divider_cycles(form, a, b)),
            _ if form.writes_float() => self.float_short(issue, rd),
            _ => {
                self.float_to_integer(issue, rd);
                true
            }
        }
    }

    /// The same for what needs no adder and writes register `rd` of its file.
    #[inline(always)]
    pub fn float_short(&mut self, issue: u64, rd: u8) -> bool {
        self.float_result(issue, self.float.short, rd)
    }

    /// The same for what writes integer register `rd`, which always is taken.
    #[inline(always)]
    pub fn float_to_integer(&mut self, issue: u64, rd: u8) {
        self.float.compared = issue + WRITE_BACK;
        let ready = issue + self.config.float_to_integer_latency;
        self.produce(u32::from(rd), ready);
    }

    /// The same for an addition, a multiplication or both fused.
    #[inline(always)]
    pub fn float_arithmetic(&mut self, issue: u64, double: bool, rd: u8) -> bool {
        self.float_result(issue, self.float.arithmetic[usize::from(double)], rd)
    }

    #[inline(always)]
    fn float_result(&mut self, issue: u64, latency: Latency, rd: u8) -> bool {
        let taken = self.float.reserve(issue + latency.written);
        if taken {
            self.produce(32 + u32::from(rd), issue + latency.used);
            self.portless = issue;
        }
        taken
    }

    /// The same for what occupies the divider so many `cycles`.
    #[inline(always)]
    pub fn float_divide(&mut self, issue: u64, rd: u8, cycles: u64) -> bool {
        // It is not begun while a result is on its way to the registers.
        if self.float.writes.iter().any(|&at| at >= issue + MEMORY) {
            return false;
        }
        let divided = issue + MEMORY + cycles;
        self.float.divided = divided;
        self.produce(32 + u32::from(rd), divided + 1);
        self.pending |= FLOAT_UNIT;
        self.portless = issue;
        true
    }

    /// Returns whether the unit takes an instruction of its own that issues at
    /// `issue`, even a load or store: it takes none while it divides.
    pub fn float_unit_takes(&mut self, issue: u64) -> bool {
        let takes = issue + MEMORY >= self.float.divided;
        if takes {
            self.pending &= !FLOAT_UNIT;
        }
        takes
    }

    /// Returns how often an instruction that issues at `issue` is refused while the unit
    /// divides, if it issues again after so many cycles each time.
    pub fn refusals(&self, issue: u64, again: u64) -> u64 {
        let left = self.float.divided.saturating_sub(issue + MEMORY);
        left.div_ceil(again.max(1))
    }

    /// Returns when an access to the floating-point flags issues that could issue at
    /// `issue`: all operations have to be over.
    pub fn wait_for_flags(&mut self, issue: u64) -> u64 {
        let [last, before] = self.float.writes;
        let over = last.max(before).max(self.float.compared) + 1;
        let settled = over.max(self.float.divided);
        if settled <= issue {
            return issue;
        }
        self.run_start = settled;
        settled
    }
}

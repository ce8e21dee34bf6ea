//! When instructions issue: the timing of an in-order five-stage pipeline.
//!
//! One pass per instruction, no per-cycle work. `now` is the cycle in which
//! the last instruction left decode. Registers whose value arrives later than
//! the next cycle are pending; an instruction that names none of them issues
//! one cycle after its predecessor.

pub(crate) mod data;
mod fetch;
mod float;

use crate::arithmetic::multiply_iterations;
use crate::cache::{Cache, shifted};
use crate::config::CoreConfig;
use crate::instruction::FLOAT_UNIT;
use crate::predictor::Predictor;
use crate::record::Buffering;
use crate::statistics::CoreStatistics;
use data::Store;
use float::FloatUnit;
use std::hint::cold_path;

/// Cycles from decode to write-back.
pub(crate) const WRITE_BACK: u64 = 3;

/// Lines of instructions that are known to hit without a lookup; a power of two.
const RECENT_LINES: usize = 256;

/// The same for data.
const DATA_LINES: usize = 512;

/// State of the pipeline, the caches and the predictors.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub config: CoreConfig,
    /// Cycle in which the last instruction issued.
    pub now: u64,
    /// Registers that may be pending, as in `Instruction::uses`; bit 0 also stands for
    /// the register that takes results for `x0`.
    pub pending: u64,
    ready: [u64; 64],
    /// Registers written by the multiplier or divider, which need a free
    /// write port.
    late_writers: u64,
    /// Iterations of a multiplication by leading zeros of the first operand,
    /// for 64 and for 32 bits.
    multiply_full: [u8; 65],
    multiply_half: [u8; 65],
    /// First cycle of the current run of instructions without a stall.
    run_start: u64,
    /// Cycle in which the last instruction issued that writes no register.
    portless: u64,
    muldiv_free: u64,
    float: FloatUnit,
    last_custom: u64,
    /// Delivery time of the first fetch group of the current run.
    fetch_start: u64,
    fetch_pc: u64,
    /// The last two stores, the last one first.
    stores: [Store; 2],
    /// Last cycle in which the last one is buffered.
    last_store_over: u64,
    /// Cycle in which the group of the branch was delivered that was looked up last.
    looked_up: u64,
    /// Cycle in which the last taken branch or jump issued: the first group behind it
    /// could enter the instruction buffer a cycle later, or at once if that came
    /// from the buffer and did not need the way there.
    taken: u64,
    taken_buffering: Buffering,
    buffering: Buffering,
    /// The line from which the last instruction came.
    current_line: u64,
    /// Lines of instructions that have been in the cache ever since they were
    /// fetched: by their lowest bits the one fetched last.
    fetched_lines: [u64; RECENT_LINES],
    /// Data lines read, and lines written, that have been in the cache ever
    /// since: by their lowest bits the one touched last.
    read_lines: [u64; DATA_LINES],
    written_lines: [u64; DATA_LINES],
    /// An address whose line stands there without being in the cache.
    doubtful: Option<u64>,
    instruction_cache: Cache,
    data_cache: Cache,
    predictor: Predictor,
    probes: Vec<(u64, bool)>,
    /// There were some when they were asked for last.
    probed: bool,
    /// The memory system may be about to ask the data cache for lines: nothing is
    /// relied on to hit, and every access waits for its turn.
    shares_lines: bool,
    pub statistics: CoreStatistics,
}

impl Pipeline {
    pub fn new(config: &CoreConfig) -> Self {
        Self {
            config: config.clone(),
            now: 0,
            pending: 0,
            ready: [0; 64],
            late_writers: 0,
            multiply_full: iterations(config, false),
            multiply_half: iterations(config, true),
            run_start: 0,
            portless: 0,
            muldiv_free: 0,
            float: FloatUnit::new(config),
            last_custom: 0,
            fetch_start: 0,
            fetch_pc: 0,
            stores: [Store::default(); 2],
            last_store_over: 0,
            looked_up: 0,
            taken: 0,
            taken_buffering: Buffering::START,
            buffering: Buffering::NONE,
            current_line: u64::MAX,
            fetched_lines: [u64::MAX; RECENT_LINES],
            read_lines: [u64::MAX; DATA_LINES],
            written_lines: [u64::MAX; DATA_LINES],
            doubtful: None,
            instruction_cache: Cache::new(&config.l1i, shifted(config.replacement_seed)),
            data_cache: Cache::new(&config.l1d, config.replacement_seed),
            predictor: Predictor::new(config),
            probes: Vec::new(),
            probed: false,
            shares_lines: false,
            statistics: CoreStatistics::default(),
        }
    }

    /// Empties caches and predictors.
    pub fn cool(&mut self) {
        self.current_line = u64::MAX;
        self.fetched_lines.fill(u64::MAX);
        self.read_lines.fill(u64::MAX);
        self.written_lines.fill(u64::MAX);
        self.instruction_cache.reset();
        self.data_cache.reset();
        self.predictor.reset();
    }

    /// Waits for registers behind the instruction that issued at `now`: returns
    /// the cycle before the one in which one that uses them can issue.
    #[inline(always)]
    pub fn wait(&mut self, uses: u64, now: u64) -> u64 {
        self.issue(uses, now, now + 1) - 1
    }

    /// The same if exactly one register is pending, and no other result of a long
    /// operation is on its way.
    #[inline(always)]
    pub fn wait_for_one(&mut self, uses: u64, now: u64) -> Option<u64> {
        let waited = uses & self.pending;
        let others = self.late_writers & !waited;
        if !waited.is_power_of_two() || waited == FLOAT_UNIT || others != 0 {
            return None;
        }
        // What follows is `issue` for one register.
        self.pending ^= waited;
        let mut ready = self.ready[waited.trailing_zeros() as usize & 63];
        if self.late_writers != 0 {
            self.late_writers = 0;
            ready = self.port(ready, now);
            self.muldiv_free = self.muldiv_free.max(ready);
        }
        if ready <= now + 1 {
            return Some(now);
        }
        self.run_start = ready;
        Some(ready - 1)
    }

    /// The same if exactly one register is pending, whatever else is on its way.
    #[inline(always)]
    pub fn wait_for_one_of_many(&mut self, uses: u64, now: u64) -> Option<u64> {
        let waited = uses & self.pending;
        if !waited.is_power_of_two() || waited == FLOAT_UNIT {
            return None;
        }
        self.pending ^= waited;
        let mut ready = self.ready[waited.trailing_zeros() as usize & 63];
        if waited & self.late_writers != 0 {
            self.late_writers ^= waited;
            ready = self.port(ready, now);
            self.muldiv_free = self.muldiv_free.max(ready);
        }
        if ready <= now + 1 {
            return Some(now);
        }
        if self.late_writers != 0 {
            self.write_late(now);
        }
        self.run_start = ready;
        Some(ready - 1)
    }

    /// The same for at most two registers, at least one of which has to be pending, unless
    /// a result of a long operation is on its way.
    #[inline(always)]
    pub fn wait_for_short_ones(&mut self, uses: u64, now: u64) -> Option<u64> {
        let waited = uses & self.pending;
        let second = waited & waited.wrapping_sub(1);
        if second & second.wrapping_sub(1) != 0
            || waited & FLOAT_UNIT != 0
            || self.late_writers != 0
        {
            return None;
        }
        self.pending ^= waited;
        let mut ready = self.ready[waited.trailing_zeros() as usize & 63];
        if second != 0 {
            cold_path();
            ready = ready.max(self.ready[second.trailing_zeros() as usize & 63]);
        }
        if ready <= now + 1 {
            return Some(now);
        }
        self.run_start = ready;
        Some(ready - 1)
    }

    /// Returns the issue cycle of an instruction that uses these registers,
    /// cannot issue before `issue`, and follows one that issued at `now`.
    #[inline(always)]
    fn issue(&mut self, uses: u64, now: u64, issue: u64) -> u64 {
        let mut issue = issue;
        let mut waited = uses & self.pending & !FLOAT_UNIT;
        self.pending &= !waited;
        while waited != 0 {
            let register = waited & waited.wrapping_neg();
            let mut ready = self.ready[waited.trailing_zeros() as usize & 63];
            if register & self.late_writers != 0 {
                self.late_writers ^= register;
                ready = self.port(ready, now);
                self.muldiv_free = self.muldiv_free.max(ready);
            }
            issue = issue.max(ready);
            waited ^= register;
        }
        if issue > now + 1 {
            if self.late_writers != 0 {
                self.write_late(now);
            }
            self.run_start = issue;
        }
        issue
    }

    /// Before a stall behind the instruction that issued at `now`: works out when
    /// results of long operations are written that are ready by the time at which
    /// those before the stall write theirs.
    #[cold]
    fn write_late(&mut self, now: u64) {
        let mut left = self.late_writers;
        while left != 0 {
            let register = left.trailing_zeros() as usize & 63;
            let ready = self.ready[register];
            if ready <= now + WRITE_BACK {
                let written = self.port(ready, now);
                self.ready[register] = written;
                self.muldiv_free = self.muldiv_free.max(written);
                self.late_writers &= !(1 << register);
            }
            left &= left - 1;
        }
    }

    /// The same for an instruction that besides has to wait so many `cycles`.
    pub fn wait_for_load(&mut self, uses: u64, now: u64, cycles: u64) -> u64 {
        self.issue(uses, now, now + 1 + cycles) - 1
    }

    /// Notes that no instruction could issue before `issue`.
    #[inline(always)]
    pub fn stalled_until(&mut self, issue: u64) {
        self.run_start = issue;
    }

    /// Returns when the result of a long operation that is `ready` has been
    /// written, which waits for a cycle in which no instruction in write-back
    /// writes a register.
    #[inline(always)]
    fn port(&self, ready: u64, now: u64) -> u64 {
        // Those issued since the last stall reach write-back one after the other.
        let last = now + WRITE_BACK;
        let free = self.portless + WRITE_BACK;
        let taken = ready > self.run_start + WRITE_BACK && ready <= last && free < ready;
        if taken { last + 1 } else { ready }
    }

    /// Makes the result for integer register `rd`, which may be the one that
    /// takes results for `x0`, pending until `ready`.
    #[inline(always)]
    pub fn produce_integer(&mut self, rd: u8, ready: u64) {
        self.ready[usize::from(rd & 31)] = ready;
        self.pending |= integer_bit(rd);
    }

    /// Makes a result pending until `ready`.
    #[inline(always)]
    pub fn produce(&mut self, register: u32, ready: u64) {
        self.ready[(register & 63) as usize] = ready;
        self.pending |= 1 << (register & 63);
    }

    /// Returns the iterations of a multiplication with first operand `a`.
    #[inline(always)]
    pub fn multiply_iterations(&self, a: u64, high: bool, half: bool) -> u32 {
        let zeros = if high { 0 } else { a.leading_zeros() };
        if half {
            let zeros = if high {
                0
            } else {
                (a as u32).leading_zeros() + 32
            };
            return u32::from(self.multiply_half[zeros as usize]);
        }
        u32::from(self.multiply_full[zeros as usize])
    }

    /// Returns the issue cycle of a multiplication or division that takes
    /// `iterations`.
    #[inline(always)]
    pub fn muldiv(&mut self, issue: u64, rd: u8, iterations: u32) -> u64 {
        // The unit is busy until its result is written.
        let free = match self.late_writers {
            0 => self.muldiv_free,
            _ => self.port(self.muldiv_free, issue - 1),
        };
        let issue = if free > issue {
            self.run_start = free;
            free
        } else {
            issue
        };
        let ready = issue + self.config.muldiv_overhead + u64::from(iterations);
        self.muldiv_free = ready;
        self.produce_integer(rd, ready);
        self.late_writers |= integer_bit(rd);
        issue
    }

    /// Notes a custom instruction that issued at `issue`.
    pub fn custom(&mut self, issue: u64) {
        self.last_custom = issue;
    }

    /// Returns the cycle at which a fence that could issue at `issue` asks the
    /// coprocessor: custom instructions still in the pipeline come first.
    pub fn fence(&self, issue: u64) -> u64 {
        issue.max(self.last_custom + WRITE_BACK + 1)
    }

    /// Goes on at `pc`, behind an instruction of four bytes that ended a block: the upper
    /// half of the group in which that ends comes from the instruction buffer.
    pub fn go_on_behind(&mut self, pc: u64) {
        self.buffering = Buffering::behind(false, false, pc);
    }

    /// Restarts the pipeline behind the instruction that issued at `now`.
    pub fn flush(&mut self, pc: u64) {
        self.now += self.config.flush_penalty;
        self.restart(pc);
    }

    fn restart(&mut self, pc: u64) {
        self.run_start = self.now + 1;
        self.fetch_start = self.now + 1;
        self.fetch_pc = pc;
        self.buffering = Buffering::NONE;
    }
}

/// Returns the bit of an integer register in [`Pipeline::pending`]: the lowest
/// for the register that takes results for `x0`.
#[inline(always)]
fn integer_bit(rd: u8) -> u64 {
    1 << (rd & 31)
}

fn iterations(config: &CoreConfig, half: bool) -> [u8; 65] {
    std::array::from_fn(|zeros| {
        let bits = config.multiply_bits_per_cycle;
        multiply_iterations(64 - zeros as u64, half, bits) as u8
    })
}

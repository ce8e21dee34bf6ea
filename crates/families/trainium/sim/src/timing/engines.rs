//! What each engine takes next, and how transfers spread over the queues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::banks::Banks;
use super::cost;
use super::dependences::Waiting;
use super::machine::Machine;
use super::ready::Ready;
use super::schedule::Slot;
use crate::trace::{Choice, Engine, Instruction, Long, Region, Tensor};

/// Order of floating-point times in heaps.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Time(pub(super) f64);
impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The engines, as the state numbers them.
pub(super) const ENGINES: [Engine; 5] = [
    Engine::Tensor,
    Engine::Vector,
    Engine::Scalar,
    Engine::Gpsimd,
    Engine::Sync,
];

/// The engines and queues while a schedule is made.
pub(super) struct State<'a> {
    pub(super) machine: &'a Machine,
    pub(super) instructions: Arc<Long<Instruction>>,
    pub(super) tensors: Arc<Vec<Tensor>>,
    /// The instructions at which other cores are met, and how many of these were passed.
    meetings: Vec<u32>,
    passed: usize,
    pub(super) free: [f64; 5],
    pub(super) running: [Option<u32>; 5],
    /// Ready instructions: four engines, vector or scalar, vector or gpsimd, transfers, registers,
    /// and meetings before which there is another.
    pub(super) ready: [Ready; 9],
    pub(super) issued: Vec<bool>,
    pub(super) oldest: usize,
    pub(super) queues: Vec<f64>,
    /// The queues, least loaded first when a transfer last took some of them.
    pub(super) by_load: Vec<usize>,
    /// When the first of the queues comes free.
    pub(super) soonest: f64,
    pub(super) queue_busy: Vec<f64>,
    pub(super) hbm: f64,
    /// For how long any of the queues was busy, and until when.
    pub(super) any_queue: (f64, f64),
    /// When the next descriptors can be made.
    pub(super) trigger: f64,
    pub(super) psum_free: i64,
    next_bank: usize,
}

/// Where ready transfers are, and meetings that have to wait for their turn.
pub(super) const TRANSFERS: usize = 6;
const EARLY: usize = 8;

impl<'a> State<'a> {
    pub(super) fn new(
        instructions: Arc<Long<Instruction>>,
        tensors: Arc<Vec<Tensor>>,
        meetings: Vec<u32>,
        machine: &'a Machine,
    ) -> Self {
        Self {
            machine,
            free: [0.0; 5],
            running: [None; 5],
            ready: Default::default(),
            issued: vec![false; instructions.len()],
            oldest: 0,
            queues: vec![0.0; machine.dma.queues],
            by_load: (0..machine.dma.queues).collect(),
            soonest: 0.0,
            queue_busy: vec![0.0; machine.dma.queues],
            hbm: 0.0,
            any_queue: (0.0, 0.0),
            trigger: 0.0,
            psum_free: machine.psum_bytes as i64,
            next_bank: 0,
            instructions,
            tensors,
            meetings,
            passed: 0,
        }
    }

    /// Whether nothing is ready.
    pub(super) fn is_idle(&self) -> bool {
        self.ready.iter().all(Ready::is_empty)
    }

    pub(super) fn is_meeting(&self, which: u32) -> bool {
        self.meetings.get(self.passed) == Some(&which)
    }

    /// Passes the next meeting, after which the one behind it has its turn.
    pub(super) fn pass_meeting(&mut self) {
        self.passed += 1;
        if let Some(which) = self.ready[EARLY].peek()
            && self.is_meeting(which)
        {
            self.ready[EARLY].pop();
            self.make_ready(which);
        }
    }

    /// The engine that runs an instruction which no other can run, by its number; none of transfers.
    pub(super) fn engine_of(&self, which: u32) -> Option<usize> {
        let choice = self.instructions[which as usize].choice;
        ENGINES.iter().position(|it| choice == Choice::Fixed(*it))
    }

    /// Notes that an instruction waits for no other.
    pub(super) fn make_ready(&mut self, which: u32) {
        let instruction = &self.instructions[which as usize];
        let heap = match instruction.choice {
            _ if instruction.operation.is_meeting() && !self.is_meeting(which) => EARLY,
            Choice::Fixed(Engine::Tensor) => 0,
            Choice::Fixed(Engine::Vector) => 1,
            Choice::Fixed(Engine::Scalar) => 2,
            Choice::Fixed(Engine::Gpsimd) => 3,
            Choice::VectorOrScalar => 4,
            Choice::VectorOrGpsimd => 5,
            Choice::Fixed(Engine::Dma) => TRANSFERS,
            Choice::Fixed(Engine::Sync) => 7,
        };
        self.ready[heap].push(which);
    }

    /// The instruction that an idle engine takes now: the oldest ready one within the window.
    /// Where it waits for another engine, that engine's coming free is an event already.
    pub(super) fn candidate(&self, engine: usize, now: f64, banks: &Banks) -> Option<(usize, u32)> {
        let heaps: &[usize] = match engine {
            0 => &[0],
            1 => &[1, 4, 5],
            2 => &[2, 4],
            3 => &[3, 5],
            _ => &[7],
        };
        let mut best: Option<(usize, u32)> = None;
        for heap in heaps {
            let Some(which) = self.ready[*heap].peek() else {
                continue;
            };
            if which as usize >= self.oldest + self.machine.window {
                continue;
            }
            if matches!(heap, 4 | 5) {
                // The other engine may be done with it sooner.
                let other = match (*heap, engine) {
                    (4, 1) => 2,
                    (5, 1) => 3,
                    _ => 1,
                };
                let instruction = &self.instructions[which as usize];
                let here = now + cost::busy(instruction, ENGINES[engine], self.machine);
                let there = self.free[other].max(now)
                    + cost::busy(instruction, ENGINES[other], self.machine);
                let queued = !self.ready[other].is_empty();
                if there < here && !queued {
                    continue;
                }
            }
            if !self.bank_free(which, banks) || self.excluded(engine, which, now) {
                continue;
            }
            if best.is_none_or(|(_, found)| which < found) {
                best = Some((*heap, which));
            }
        }
        best
    }

    fn bank_free(&self, which: u32, banks: &Banks) -> bool {
        match banks.opens[which as usize] {
            0 => true,
            bytes => {
                banks.order.get(self.next_bank) == Some(&which)
                    && self.psum_free >= i64::from(bytes)
            }
        }
    }

    /// Takes the bank that the instruction opens.
    pub(super) fn take_bank(&mut self, which: u32, banks: &Banks) {
        let bytes = banks.opens[which as usize];
        if bytes > 0 {
            self.psum_free -= i64::from(bytes);
            self.next_bank += 1;
        }
    }

    /// Lets the oldest instruction that opens a bank have all of the accumulators.
    pub(super) fn make_room(&mut self, banks: &Banks) {
        self.psum_free = self.machine.psum_bytes as i64;
        let mut order = banks.order.iter();
        let oldest = order.position(|which| !self.issued[*which as usize]);
        self.next_bank = oldest.unwrap_or(banks.order.len());
    }

    /// Whether another engine holds the port that the instruction needs.
    fn excluded(&self, engine: usize, which: u32, now: f64) -> bool {
        if !self.machine.exclusions {
            return false;
        }
        let own = &self.instructions[which as usize].features;
        let rivals: &[(usize, bool)] = match engine {
            1 => &[(3, false), (2, true)],
            2 => &[(1, true)],
            3 => &[(1, false)],
            _ => &[],
        };
        for (other, psum) in rivals {
            if self.free[*other] <= now {
                continue;
            }
            let Some(running) = self.running[*other] else {
                continue;
            };
            let theirs = &self.instructions[running as usize].features;
            let clash = if *psum {
                own.touches_psum && theirs.touches_psum
            } else {
                own.touches_sbuf && theirs.touches_sbuf
            };
            if clash {
                return true;
            }
        }
        false
    }

    /// The queues of a transfer to or from the on-chip memory, where partitions have fixed ones.
    fn fixed_queues(&self, which: u32) -> Option<Range<usize>> {
        let rates = &self.machine.dma;
        if rates.queue_partitions == 0 {
            return None;
        }
        let instruction = &self.instructions[which as usize];
        let is_on_chip = |region: &&Region| {
            let tensor = self.tensors.get(region.tile.tensor as usize);
            tensor.is_some_and(|tensor| tensor.buffer.on_chip())
        };
        let mut regions = instruction.writes.iter().chain(&instruction.reads);
        let (low, high) = regions.find(is_on_chip)?.partitions;
        let low = usize::from(low / rates.queue_partitions);
        let high = usize::from(high.div_ceil(rates.queue_partitions)).max(low + 1);
        (high <= rates.queues).then_some(low..high)
    }

    /// Spreads a transfer over the least loaded queues, or those of its partitions.
    pub(super) fn transfer(&mut self, which: u32, now: f64) -> (f64, f64, f64) {
        let rates = &self.machine.dma;
        let Some(transfer) = &self.instructions[which as usize].transfer else {
            return (now, now, now);
        };
        if self.instructions[which as usize].features.rests {
            let last = self.queues.iter().copied().fold(now, f64::max);
            self.queues.fill(last + rates.uneven_gap_ns);
        }
        let rows = transfer.rows.max(1) as usize;
        let fixed = self.fixed_queues(which);
        let queues = match &fixed {
            Some(range) => range.len(),
            None => rows.min(rates.queues),
        };
        let per_queue = rows.div_ceil(queues) as f64;
        let run = f64::from(transfer.run_bytes);
        let runs = f64::from(transfer.runs);
        let descriptors = if transfer.aligned < rates.aligned_bytes {
            2.0
        } else {
            1.0
        };
        let of_run = descriptors * rates.descriptor_ns + run / rates.bytes_per_ns;
        let copied = per_queue * runs * of_run * queues as f64;
        let each = rates.turned_ns(transfer, copied) / queues as f64;
        // Where all of them are taken, their order does not matter.
        if fixed.is_none() && queues < self.queues.len() {
            let loads = &self.queues;
            self.by_load
                .sort_unstable_by(|a, b| loads[*a].total_cmp(&loads[*b]).then(a.cmp(b)));
        }
        let mut start = f64::INFINITY;
        let mut end = now;
        let free = if fixed.is_some() { 0 } else { queues };
        let taken = self.by_load.iter().copied().take(free);
        for queue in taken.chain(fixed.unwrap_or(0..0)) {
            let begin = self.queues[queue].max(now);
            self.queues[queue] = begin + each;
            self.queue_busy[queue] += each;
            start = start.min(begin);
            end = end.max(begin + each);
        }
        self.soonest = self.queues.iter().copied().fold(f64::INFINITY, f64::min);
        let written = transfer.hbm_written as f64 * rates.hbm_write_weight;
        let bytes = transfer.hbm_read as f64 + written;
        self.hbm = self.hbm.max(start) + bytes / rates.hbm_bytes_per_ns;
        end = end.max(self.hbm);
        let (busy, until) = &mut self.any_queue;
        *busy += (end - start.max(*until)).max(0.0);
        *until = until.max(end);
        (start, end, end + rates.latency_ns)
    }

    /// Counts an instruction as issued, and wakes those that waited for it.
    #[expect(
        clippy::too_many_arguments,
        reason = "the tables of the running schedule"
    )]
    pub(super) fn finish(
        &mut self,
        which: u32,
        slot: Slot,
        waiting: &[Waiting],
        open: &mut [u32],
        slots: &mut [Slot],
        events: &mut BinaryHeap<Reverse<(Time, u8, u32)>>,
        banks: &Banks,
    ) {
        let Slot { released, done, .. } = slot;
        slots[which as usize] = slot;
        self.issued[which as usize] = true;
        while self.oldest < self.issued.len() && self.issued[self.oldest] {
            self.oldest += 1;
        }
        if banks.closes[which as usize] > 0 {
            events.push(Reverse((Time(done), 1, which)));
        }
        for one in waiting {
            let at = if one.result() { done } else { released };
            let next = one.instruction() as usize;
            let slot = &mut slots[next];
            if at >= slot.start {
                slot.start = at;
                slot.blocker = Some(which);
            }
            open[next] -= 1;
            if open[next] == 0 {
                events.push(Reverse((Time(slot.start), 0, one.instruction())));
            }
        }
    }
}

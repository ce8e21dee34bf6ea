//! What the event counters of the hardware count.
//!
//! Counting begins with the first access to a counter, so that programs without
//! any pay nothing for it. The units note spans as they decide on them, the load
//! path up to a dozen cycles before they begin; a reading takes the part before
//! its cycle. Spans of commands that are still being worked on count up to there
//! too; waits of controllers are known when a command's last row has been sent.

use super::engine::Engine;
use super::job::{Class, ExecuteKind, Job, Work};
use super::spans::{Latency, Level, PageRegister, Spans};
use super::station::{Slot, class_of};
use crate::events::{Event, EventTotals, External};

/// Counts for the events since counting began.
#[derive(Clone, Debug)]
pub(super) struct EventCounts {
    began: u64,
    /// Commands at each controller.
    at_controller: [u32; 3],
    /// Cycles by which controllers are busy, one bit each, and since when the
    /// present ones are.
    by_busy: [u64; 8],
    busy: usize,
    busy_from: u64,
    load_dma_wait: Spans,
    load_active: Spans,
    load_wait: u64,
    store_dma_wait: Spans,
    store_active: Spans,
    store_wait: u64,
    pub(super) pooling: Level,
    reader_pages: PageRegister,
    writer_pages: PageRegister,
    reader_active: Spans,
    reader_port_wait: Spans,
    pub(super) writer_active: Spans,
    writer_port_wait: Spans,
    /// Cycle after the last beat of a write at the port.
    written_until: u64,
    /// Cycles of operations by the operands that are missing, one bit each.
    by_garbage: [u64; 8],
    /// Cycles until the first rows are there, by the operands that come from
    /// the scratchpad (lower three bits) and the accumulator (upper three).
    pub(super) by_awaited: [u64; 64],
    pub(super) array_full: u64,
    pub(super) flush: Spans,
    pub(super) preload_hazard: Spans,
    pub(super) overlap_hazard: Spans,
    station_full: u64,
    /// The youngest command of the array's that is not a configuration is a
    /// preload.
    preload_is_last: bool,
    station_active: Level,
    pub(super) loop_active: Level,
    pub(super) unroller_active: Spans,
    pub(super) reads: Latency,
    pub(super) writes: Latency,
}

impl EventCounts {
    /// Begins to count in cycle `at`, with an engine in the state it is in.
    fn begin(engine: &Engine, at: u64) -> Self {
        let spans = Spans::since(at);
        let level = |is_on| Level::since(at, is_on);
        let at_controller = engine.station.at_controllers();
        let busy = (0..3).filter(|class| at_controller[*class] > 0);
        let preload_is_last = engine.station.preload_is_last();
        let mut reads = Latency::default();
        let (known, packets) = (&engine.load.releases, engine.load.packets as usize);
        reads.join(known.iter(), packets.saturating_sub(known.len()), at);
        let mut writes = Latency::default();
        let unknown = engine.store.unanswered + engine.port.writes_waiting();
        writes.join(engine.store.acks.iter(), unknown, at);
        Self {
            began: at,
            at_controller,
            by_busy: [0; 8],
            busy: busy.map(|class| 1 << class).sum(),
            busy_from: at,
            load_dma_wait: spans,
            load_active: spans,
            load_wait: 0,
            store_dma_wait: spans,
            store_active: spans,
            store_wait: 0,
            pooling: level(engine.store.pools),
            reader_pages: PageRegister::EMPTY,
            writer_pages: PageRegister::EMPTY,
            reader_active: spans,
            reader_port_wait: spans,
            writer_active: spans,
            writer_port_wait: spans,
            written_until: at,
            by_garbage: [0; 8],
            by_awaited: [0; 64],
            array_full: 0,
            flush: spans,
            preload_hazard: spans,
            overlap_hazard: spans,
            station_full: 0,
            preload_is_last,
            station_active: level(engine.station.commands() > u32::from(preload_is_last)),
            loop_active: level(engine.matmul.is_active()),
            unroller_active: spans,
            reads,
            writes,
        }
    }

    /// A command is at its controller from cycle `at` on.
    fn enter(&mut self, class: Class, at: u64) {
        let count = &mut self.at_controller[class as usize];
        *count += 1;
        if *count == 1 {
            self.switch(class, at);
        }
    }

    /// A command has left its controller before cycle `at`.
    fn leave(&mut self, class: Class, at: u64) {
        let count = &mut self.at_controller[class as usize];
        *count -= 1;
        if *count == 0 {
            self.switch(class, at);
        }
    }

    /// A controller gets busy, or ceases to be, in cycle `at`.
    fn switch(&mut self, class: Class, at: u64) {
        self.by_busy[self.busy] += at.saturating_sub(self.busy_from);
        self.busy ^= 1 << class as usize;
        self.busy_from = at;
    }

    /// A command got an entry in cycle `now`, after it had `waited` for one.
    fn allocate(&mut self, job: &Job, waited: u64, now: u64) {
        self.station_full += waited.min(now.saturating_sub(self.began));
        if let Work::Execute(execute) = &job.work
            && execute.kind != ExecuteKind::Config
        {
            self.preload_is_last = execute.kind == ExecuteKind::Preload;
        }
    }

    /// So many commands are in the station from cycle `at` on. A preload alone
    /// that still waits for its multiplication is no work.
    fn station(&mut self, commands: u32, at: u64) {
        let has_work = commands > u32::from(self.preload_is_last);
        self.station_active.set(has_work, at);
    }

    /// The load controller has sent a command of `rows` rows: the first one
    /// tried in cycle `start` and taken in cycle `first`; it is free from cycle
    /// `ready` on.
    #[cold]
    pub(super) fn loaded(&mut self, start: u64, first: u64, ready: u64, rows: u32) {
        self.load_dma_wait.add(start + 1, first + 1);
        self.load_active.add(first + 1, ready);
        self.load_wait += waits(start, ready, rows);
    }

    /// The same of the store controller.
    #[cold]
    pub(super) fn stored(&mut self, start: u64, first: u64, ready: u64, rows: u32) {
        self.store_dma_wait.add(start + 1, first + 1);
        self.store_active.add(first + 1, ready);
        self.store_wait += waits(start, ready, rows);
    }

    /// The reader sends a packet in cycle `at` that it has had since `from`.
    #[cold]
    pub(super) fn read(&mut self, address: u64, from: u64, at: u64) {
        self.reader_active.add(from, at + 1);
        self.reader_pages.request(address, at, 1);
        self.reads.begin(at + 1);
    }

    /// The writer begins to send a packet in cycle `at`.
    #[cold]
    pub(super) fn write(&mut self, address: u64, beats: u64, at: u64) {
        self.writer_pages.request(address, at, beats);
        self.writes.begin(at + 1);
    }

    /// A packet that came to the port in cycle `ready` goes through from cycle
    /// `at` on.
    #[cold]
    pub(super) fn write_at_port(&mut self, ready: u64, at: u64, beats: u64) {
        // What is behind the beats before it does not wait for the port.
        self.writer_port_wait.add(ready.max(self.written_until), at);
        self.written_until = at + beats;
    }

    /// An operation that lacks operands, and began in some cycle, has taken its
    /// last row before cycle `end`; the next one can begin in cycle `free`.
    #[cold]
    pub(super) fn operate(&mut self, lacks_since: (usize, u64), end: u64, free: u64) {
        let (lacks, start) = lacks_since;
        // The controller is seen at work from the second cycle on.
        self.by_garbage[lacks] += free.saturating_sub((start + 1).max(self.began));
        self.array_full += free - end;
    }

    /// Forgets translations, as a flush does.
    pub(super) fn forget_pages(&mut self) {
        self.reader_pages.empty();
        self.writer_pages.empty();
    }
}

/// Cycles in which a row was offered and not taken. A command of one row takes
/// an extra cycle.
fn waits(start: u64, ready: u64, rows: u32) -> u64 {
    ready.saturating_sub(start + u64::from(rows.max(2)))
}

/// Sum of the values whose index has a bit set.
fn with_bit(values: &[u64], bit: usize) -> u64 {
    let chosen = values
        .iter()
        .enumerate()
        .filter(|(index, _)| index >> bit & 1 != 0);
    chosen.map(|(_, value)| value).sum()
}

impl Engine {
    /// Notes what the configuration that got an entry does to moves out.
    #[cold]
    #[inline(never)]
    pub(super) fn note_config(&mut self) {
        if self.head.job.class == Class::Store {
            let pools = self.configured.store.pool.stride != 0;
            self.store.configs.push_back(pools);
        }
    }

    /// The head gets an entry in cycle `now`, and had to wait if it was
    /// `blocked`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_allocation(&mut self, blocked: bool, now: u64) {
        if let Some(counts) = &mut self.counts {
            let waited = if blocked { now - self.blocked_from } else { 0 };
            counts.allocate(&self.head.job, waited, now);
            counts.station(self.station.commands(), now + 1);
        }
    }

    /// A command issues in cycle `now`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_issue(&mut self, slot: Slot, now: u64) {
        if let Some(counts) = &mut self.counts {
            match self.station.entry(slot).work {
                // It only passes through, and has given up its entry.
                Work::Config => counts.station(self.station.commands(), now + 1),
                _ => counts.enter(class_of(slot), now + 1),
            }
        }
    }

    /// A command completes in cycle `now`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_completion(&mut self, class: Class, now: u64) {
        if let Some(counts) = &mut self.counts {
            counts.leave(class, now + 1);
            counts.station(self.station.commands(), now + 1);
        }
    }

    /// A read is at the port in cycle `ready` and gets through in cycle `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_read_wait(&mut self, ready: u64, at: u64) {
        if let Some(counts) = &mut self.counts {
            counts.reader_port_wait.add(ready, at);
        }
    }

    /// Works through everything up to `cycle`; returns what had been counted
    /// by then.
    pub(crate) fn events(&mut self, cycle: u64) -> EventTotals {
        self.run_until(cycle);
        let mut counts = match self.counts.take() {
            Some(counts) => counts,
            None => Box::new(EventCounts::begin(self, cycle)),
        };
        let mut totals = EventTotals::default();
        let since = |start: u64| cycle.saturating_sub(start.max(counts.began));

        let mut by_busy = counts.by_busy;
        by_busy[counts.busy] += since(counts.busy_from);
        // Load, store and execute have the bits 0, 1 and 2.
        let combinations = [
            (Event::MainLoad, 0b001),
            (Event::MainStore, 0b010),
            (Event::MainExecute, 0b100),
            (Event::MainLoadStore, 0b011),
            (Event::MainLoadExecute, 0b101),
            (Event::MainStoreExecute, 0b110),
            (Event::MainAll, 0b111),
        ];
        for (event, busy) in combinations {
            totals.set(event, 0, by_busy[busy]);
        }

        let sending = self.load.sending_since().map_or(0, since);
        let loads = counts.load_active.before(cycle) + sending;
        let sending = self.store.sending_since().map_or(0, since);
        let stores = counts.store_active.before(cycle) + sending;
        let reading = self.load.reading_since().map_or(0, since);
        let reader = counts.reader_active.before(cycle) + reading;
        let writing = self.store.writing_since().map_or(0, since);
        let writer = counts.writer_active.before(cycle) + writing;
        let requests = counts.reader_pages.misses + counts.writer_pages.misses;
        let waiting = self.blocked.map_or(0, |_| since(self.blocked_from));
        let station_full = counts.station_full + waiting;
        for (event, total) in [
            (Event::LoadDmaWait, counts.load_dma_wait.before(cycle)),
            (Event::LoadActive, loads),
            (Event::LoadScratchpadWait, counts.load_wait),
            (Event::StoreDmaWait, counts.store_dma_wait.before(cycle)),
            (Event::StoreActive, stores),
            (Event::StorePooling, counts.pooling.before(cycle)),
            (Event::StoreScratchpadWait, counts.store_wait),
            (Event::TlbHits, requests),
            (Event::TlbRequests, requests),
            (Event::ReaderActive, reader),
            (Event::ReaderPortWait, counts.reader_port_wait.before(cycle)),
            (Event::WriterActive, writer),
            (Event::WriterPortWait, counts.writer_port_wait.before(cycle)),
            (Event::ExecuteFlush, counts.flush.before(cycle)),
            (Event::ExecuteQueueBlocked, counts.array_full),
            (Event::PreloadHazard, counts.preload_hazard.before(cycle)),
            (Event::OverlapHazard, counts.overlap_hazard.before(cycle)),
            (Event::StationFull, station_full),
            (Event::StationActive, counts.station_active.before(cycle)),
            (Event::LoopMatmulActive, counts.loop_active.before(cycle)),
            (Event::UnrollerActive, counts.unroller_active.before(cycle)),
        ] {
            totals.set(event, 0, total);
        }

        let mut by_garbage = counts.by_garbage;
        if let Some((garbage, start)) = self.execute.operating_since() {
            by_garbage[garbage] += since(start + 1);
        }
        totals.set(Event::ExecuteActive, 0, by_garbage.iter().sum());
        for operand in 0..3 {
            let scratchpad = with_bit(&counts.by_awaited, operand);
            let accumulator = with_bit(&counts.by_awaited, operand + 3);
            totals.set(Event::ScratchpadWait, operand, scratchpad);
            totals.set(Event::AccumulatorWait, operand, accumulator);
            totals.set(Event::Garbage, operand, with_bit(&by_garbage, operand));
        }

        for (section, commands) in self.station.occupied().into_iter().enumerate() {
            totals.set_external(External::StationCommands, section, commands);
        }
        for (external, value) in [
            (External::BytesRead, self.load.bytes),
            (External::BytesWritten, self.store.bytes),
            (External::ReadLatency, counts.reads.before(cycle)),
            (External::WriteLatency, counts.writes.before(cycle)),
        ] {
            totals.set_external(external, 0, value);
        }
        self.counts = Some(counts);
        totals
    }
}

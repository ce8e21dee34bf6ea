//! What the event counters can count.

/// Events, by the codes of the counter instruction; a counter goes up by one
/// per cycle, or per request, in which its event is there.
///
/// *Source*: Gemmini, `CounterEvent` and the modules that drive its signals.
/// Where a signal of the hardware also says something else than its name, the
/// name counts here; `docs/counters.md` has the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// First of seven: which of the controllers are busy and no others. Load.
    MainLoad = 1,
    /// Store.
    MainStore = 2,
    /// Execute.
    MainExecute = 3,
    /// Load and store.
    MainLoadStore = 4,
    /// Load and execute.
    MainLoadExecute = 5,
    /// Store and execute.
    MainStoreExecute = 6,
    /// All three.
    MainAll = 7,
    /// The load controller waits for its command's first row to be taken.
    LoadDmaWait = 8,
    /// The load controller sends rows.
    LoadActive = 9,
    /// The load controller offers a row that is not taken.
    LoadScratchpadWait = 10,
    /// The store controller waits for its command's first row to be taken.
    StoreDmaWait = 11,
    /// The store controller sends rows.
    StoreActive = 12,
    /// The configuration of the store path pools.
    StorePooling = 13,
    /// The store controller offers a row that is not taken.
    StoreScratchpadWait = 14,
    /// Translations beyond the page register of reader and writer that hit.
    TlbHits = 16,
    /// Translations beyond the page register of reader and writer.
    TlbRequests = 17,
    /// The DMA reader works on a row.
    ReaderActive = 18,
    /// A read is at the port and does not get through.
    ReaderPortWait = 20,
    /// The DMA writer works on a row.
    WriterActive = 21,
    /// A write is at the port and does not get through.
    WriterPortWait = 23,
    /// The execute controller sends rows.
    ExecuteActive = 24,
    /// The execute controller empties the array.
    ExecuteFlush = 25,
    /// Rows do not get into the array since it is full.
    ExecuteQueueBlocked = 26,
    /// A preload waits for a result in the array.
    PreloadHazard = 27,
    /// A preload cannot share its multiplication's time for such a result.
    OverlapHazard = 28,
    /// First of three, A, B and D: the first row comes from the scratchpad
    /// and is still on its way.
    ScratchpadWait = 29,
    /// The same three for rows from the accumulator.
    AccumulatorWait = 32,
    /// First of three, A, B and D: rows are sent, but not of this operand.
    Garbage = 35,
    /// A command finds no free entry in the reservation station.
    StationFull = 41,
    /// The reservation station has work.
    StationActive = 42,
    /// The matrix loop unit has a loop.
    LoopMatmulActive = 43,
    /// A preload of a transposed operand is being split.
    UnrollerActive = 44,
}

/// Values that run on by themselves, by the codes of the counter instruction.
///
/// *Source*: Gemmini, `CounterExternal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum External {
    /// First of three: load, store and execute commands in the reservation
    /// station now.
    StationCommands = 1,
    /// Bytes that moves in have read.
    BytesRead = 4,
    /// Bytes that moves out have written.
    BytesWritten = 5,
    /// Cycles from request to last beat, over all packets read.
    ReadLatency = 6,
    /// Cycles from request to acknowledgement, over all packets written.
    WriteLatency = 7,
}

/// Number of event codes.
pub(crate) const EVENTS: usize = 45;
/// Number of codes of external values.
pub(crate) const EXTERNALS: usize = 8;

/// All events up to some cycle, by code.
#[derive(Clone, Copy, Debug)]
pub struct EventTotals {
    events: [u64; EVENTS],
    externals: [u64; EXTERNALS],
}

impl Default for EventTotals {
    fn default() -> Self {
        Self {
            events: [0; EVENTS],
            externals: [0; EXTERNALS],
        }
    }
}

impl EventTotals {
    /// Sets the event that lies `place` codes behind another one.
    pub fn set(&mut self, first: Event, place: usize, total: u64) {
        self.events[first as usize + place] = total;
    }

    /// Sets the external value that lies `place` codes behind another one.
    pub fn set_external(&mut self, first: External, place: usize, value: u64) {
        self.externals[first as usize + place] = value;
    }

    /// Returns how often the event of a code was there; codes without an event
    /// never are.
    pub fn event(&self, code: u8) -> u64 {
        self.events.get(usize::from(code)).copied().unwrap_or(0)
    }

    /// Returns an external value; of the code the last three bits count.
    pub fn external(&self, code: u8) -> u64 {
        self.externals[usize::from(code) % EXTERNALS]
    }
}

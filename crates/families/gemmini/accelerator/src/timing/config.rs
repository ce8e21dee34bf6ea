//! Constants of the cycle model as plain data.
//!
//! The values are in the `machines` folders of the targets. "RTL" names the
//! Gemmini module that a constant was read from; "fitted" marks values that were
//! chosen to meet counts of the calibration suite, unless something else is said.

use autocomp_riscv_machine::MemoryConfig;
use serde::{Deserialize, Serialize};

/// Constants of the accelerator and of the memory system below the L1 caches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// From the core's write-back to the reservation station.
    pub frontend: FrontendConfig,
    /// Reservation station.
    pub station: StationConfig,
    /// Load controller and DMA reader.
    pub load: LoadConfig,
    /// Store controller and DMA writer.
    pub store: StoreConfig,
    /// Execute controller and array.
    pub execute: ExecuteConfig,
    /// Matrix and convolution loop units.
    pub loops: LoopConfig,
    /// L2 and what is behind it.
    pub memory: MemoryConfig,
}

/// Front end: the queues between the core and the reservation station.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontendConfig {
    /// Two-entry queues in a row: router, raw, convolution loop, matrix loop,
    /// unrolled (RTL: `RoccCommandRouter`, `Controller`). Commands move one
    /// queue per cycle.
    pub queues: u32,
    /// Entries of each of those queues (RTL).
    pub queue_entries: u32,
    /// Cycles from the router having room to the arrival of the command that
    /// the core had to replay (RTL: Rocket's decode-to-write-back depth).
    pub replay: u32,
    /// Cycles from the accelerator falling idle to the end of a `fence`
    /// (fitted: the core samples the busy signal through registers).
    pub fence_release: u32,
    /// Cycles from a counter access leaving the queues to its reply in the core
    /// (RTL: the output register of `CounterController` and a queue).
    pub counter_reply: u32,
}

/// Reservation station (RTL: `ReservationStation`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationConfig {
    /// Entries for load commands, 1 to 16.
    pub load_entries: u32,
    /// Entries for store commands, 1 to 16.
    pub store_entries: u32,
    /// Entries for execute commands, 1 to 16.
    pub execute_entries: u32,
    /// A store waits until every earlier store has completed, not only until
    /// it has issued (RTL from 2025-09 on).
    pub ordered_stores: bool,
}

/// Load path (RTL: `LoadController`, `StreamReader`, `BeatMerger`,
/// `VectorScalarMultiplier`, `PixelRepeater`, `ZeroWriter`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadConfig {
    /// Load commands in flight; 0: packets in flight / dim + 1 (RTL:
    /// `DMACommandTracker`).
    pub commands_in_flight: u32,
    /// Row requests queued before the reader, 1 to 8 (RTL: `read_issue_q`).
    pub row_queue: u32,
    /// Read packets outstanding, 1 to 16 (RTL: `XactTracker`).
    pub packets: u32,
    /// Cycles from a row request to its first packet leaving the reader's
    /// state machine (RTL).
    pub row_to_packet: u32,
    /// Cycles from there to the accelerator's memory port: translation stages
    /// and buffers (RTL).
    pub packet_to_port: u32,
    /// Cycles from a beat at the port to the beat merger (RTL: two buffers).
    pub port_to_merger: u32,
    /// Cycles from a row leaving the beat merger to its write into the
    /// scratchpad, or into the accumulator if operand-width data is widened
    /// (RTL: scale stage and pixel repeater).
    pub merger_to_write: u32,
    /// The same for accumulator-width data, which takes neither (RTL).
    pub merger_to_acc_write: u32,
    /// Rows that fit between beat merger and write port (RTL).
    pub write_stages: u32,
    /// Multipliers of the move-in scale (RTL: 4).
    pub scale_units: u32,
    /// Extra cycles of a row that is really scaled (RTL: one per element and
    /// multiplier, one behind the arbiter, four in the pipe).
    pub scale_latency: u32,
    /// Cycles from a zero row's request to its write (RTL).
    pub zero_to_write: u32,
    /// Bytes per beat of the port (RTL).
    pub beat_bytes: u32,
}

/// Store path (RTL: `StoreController`, `Scratchpad`, `AccumulatorScale`,
/// `StreamWriter`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// Store commands queued before the controller (RTL).
    pub queue: u32,
    /// Store commands in flight; 0: packets / dim + 1 (RTL).
    pub commands_in_flight: u32,
    /// Row requests between controller and bank read (RTL: dispatch queue).
    pub dispatch_queue: u32,
    /// Accumulator rows between bank read and scale unit (RTL: pass-through
    /// queue of the normalizer).
    pub norm_queue: u32,
    /// Rows between the scale unit's input and the writer, 1 to 8 (RTL:
    /// `write_issue_q`).
    pub issue_queue: u32,
    /// Cycles through the accumulator's scale unit (RTL).
    pub scale_latency: u32,
    /// Cycles from a scratchpad read to the writer (RTL: bank, then
    /// `spad_read_delay` stages).
    pub spad_read_latency: u32,
    /// Cycles from a packet leaving the writer's state machine to the port
    /// (RTL: translation stages and buffers).
    pub packet_to_port: u32,
    /// Cycles from an acknowledgement at the port to the writer (RTL).
    pub port_to_writer: u32,
    /// Writes outstanding, 1 to 16 (RTL).
    pub packets: u32,
}

/// Execute path (RTL: `ExecuteController`, `MeshWithDelays`,
/// `TransposePreloadUnroller`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecuteConfig {
    /// Commands queued before the controller (RTL).
    pub queue: u32,
    /// Commands in the unroller of transposed preloads (RTL).
    pub unroller_queue: u32,
    /// Cycles from reading an operand row to its entry into the array: bank,
    /// then `spad_read_delay` stages (RTL).
    pub read_latency: u32,
    /// Registers per tile of the array beyond the first (RTL).
    pub tile_latency: u32,
    /// Registers behind the array (RTL).
    pub mesh_output_delay: u32,
    /// Operations in the array (RTL: `TagQueue`).
    pub tags: u32,
    /// Rows of the shortest operation (RTL).
    pub min_rows: u32,
}

/// Loop units (RTL: `LoopMatmul`, `LoopConv`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopConfig {
    /// Address pipeline of the convolution loop's generators (RTL).
    pub conv_latency: u32,
}

//! The constants of the model in the form in which the units use them.

use super::config::TimingConfig;
use super::execute::{COMMANDS, UNROLLER};
use super::merger::STAGES;
use super::port::{PACKETS, WRITES};
use crate::config::GemminiConfig;

/// Constants in the form in which the units use them. Where each number is from says the field of
/// [`TimingConfig`] that it is made of.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    /// Rows and columns of the array.
    pub(super) dim: u32,
    /// Queues in a row before the reservation station; a command moves on by one in a cycle.
    pub(super) queues: u64,
    /// Commands that these queues hold together.
    pub(super) buffered: usize,
    /// Entries of one of the queues.
    pub(super) queue_entries: usize,
    /// Cycles from room in the first queue to the arrival of a command that the core sends again.
    pub(super) replay: u64,
    /// Cycles from the last work to the end of a fence.
    pub(super) fence_release: u64,
    /// Cycles from a command that reads a counter leaving the queues to its number in the core.
    pub(super) counter_reply: u64,
    /// Row requests before the reader.
    pub(super) row_queue: usize,
    /// Packets that the reader has asked for and not got.
    pub(super) read_packets: u32,
    /// Cycles from a row request to its first packet.
    pub(super) row_to_packet: u64,
    /// Cycles from a packet of the reader to the port.
    pub(super) read_to_port: u64,
    /// Cycles from a beat at the port to the beat merger.
    pub(super) port_to_merger: u64,
    /// Cycles from a read at the port to its beats at the merger, at least.
    pub(super) lookahead: u64,
    /// Cycles from a row leaving the merger to its write, of operands.
    pub(super) merger_to_write: u64,
    /// Cycles from a row leaving the merger to its write, of numbers as wide as results.
    pub(super) merger_to_acc_write: u64,
    /// Rows between the merger and the banks.
    pub(super) write_stages: usize,
    /// Cycles that a row takes longer if it is scaled.
    pub(super) scale_latency: u64,
    /// Cycles from one scaled row to the next: elements of a row for each multiplier.
    pub(super) scale_pace: u64,
    /// Cycles from the request of a row of zeros to its write.
    pub(super) zero_to_write: u64,
    /// Bytes of a beat of the port, a power of two.
    pub(super) beat_bytes: u32,
    /// Bytes of the largest packet.
    pub(super) max_bytes: u32,
    /// Store commands before the controller.
    pub(super) store_queue: usize,
    /// Row requests between the store controller and the banks.
    pub(super) dispatch_queue: usize,
    /// Rows of the accumulator between a bank and the scale unit.
    pub(super) norm_queue: usize,
    /// Rows between the scale unit and the writer.
    pub(super) issue_queue: usize,
    /// Cycles of a row in the scale unit of the accumulator.
    pub(super) acc_scale_latency: u64,
    /// Cycles from the read of a row of the scratchpad to the writer.
    pub(super) spad_read_latency: u64,
    /// Cycles from a packet of the writer to the port.
    pub(super) write_to_port: u64,
    /// Cycles from an acknowledgement at the port to the writer.
    pub(super) port_to_writer: u64,
    /// Packets that are written and not acknowledged.
    pub(super) write_packets: usize,
    /// Execute commands before the controller.
    pub(super) execute_queue: usize,
    /// Commands in the unroller of transposed preloads.
    pub(super) unroller_queue: usize,
    /// Cycles from the read of a row of operands to the array.
    pub(super) read_latency: u64,
    /// Cycles from the entry of a row into the array to its result: through the rows of tiles, by
    /// the skew of the columns, and through the registers behind.
    pub(super) mesh_latency: u64,
    /// Operations in the array at once.
    pub(super) tags: usize,
    /// Rows that the shortest operation takes, one in a cycle.
    pub(super) min_rows: u32,
    /// Bits of a row number within a bank of the scratchpad.
    pub(super) spad_bank_shift: u32,
    /// Bits of a row number within a bank of the accumulator.
    pub(super) acc_bank_shift: u32,
    /// Banks of the scratchpad, a power of two.
    pub(super) spad_banks: usize,
    /// The same of the accumulator.
    pub(super) acc_banks: usize,
}

impl Constants {
    /// Works them out. Values beyond what the units can hold are cut.
    pub(super) fn new(config: &GemminiConfig, timing: &TimingConfig) -> Self {
        let dim = u64::from(config.dim);
        let tile = u64::from(timing.execute.tile_latency) + 1;
        let shift = |rows: u32, banks: u32| (rows / banks.max(1)).max(1).ilog2();
        Self {
            dim: config.dim,
            queues: u64::from(timing.frontend.queues),
            buffered: (timing.frontend.queues * timing.frontend.queue_entries).clamp(1, 32)
                as usize,
            queue_entries: timing.frontend.queue_entries as usize,
            replay: u64::from(timing.frontend.replay),
            fence_release: u64::from(timing.frontend.fence_release),
            counter_reply: u64::from(timing.frontend.counter_reply),
            row_queue: timing.load.row_queue.clamp(1, 8) as usize,
            read_packets: timing.load.packets.clamp(1, PACKETS as u32),
            row_to_packet: u64::from(timing.load.row_to_packet).max(1),
            read_to_port: u64::from(timing.load.packet_to_port),
            port_to_merger: u64::from(timing.load.port_to_merger),
            lookahead: u64::from(timing.load.port_to_merger + timing.memory.hit_latency),
            merger_to_write: u64::from(timing.load.merger_to_write).max(1),
            merger_to_acc_write: u64::from(timing.load.merger_to_acc_write).max(1),
            write_stages: timing.load.write_stages.clamp(1, STAGES as u32) as usize,
            scale_latency: u64::from(timing.load.scale_latency),
            scale_pace: (dim / u64::from(timing.load.scale_units.max(1))).max(1),
            zero_to_write: u64::from(timing.load.zero_to_write).max(1),
            beat_bytes: timing.load.beat_bytes.clamp(4, 64).next_power_of_two(),
            max_bytes: config.dma_max_bytes.max(timing.load.beat_bytes),
            store_queue: timing.store.queue.max(1) as usize,
            dispatch_queue: timing.store.dispatch_queue.clamp(1, 16) as usize,
            norm_queue: timing.store.norm_queue.clamp(1, 8) as usize,
            issue_queue: timing.store.issue_queue.clamp(1, 8) as usize,
            acc_scale_latency: u64::from(timing.store.scale_latency),
            spad_read_latency: u64::from(timing.store.spad_read_latency.clamp(1, 8)),
            write_to_port: u64::from(timing.store.packet_to_port),
            port_to_writer: u64::from(timing.store.port_to_writer),
            write_packets: timing.store.packets.clamp(1, WRITES as u32) as usize,
            execute_queue: timing.execute.queue.clamp(3, COMMANDS as u32) as usize,
            unroller_queue: timing.execute.unroller_queue.clamp(2, UNROLLER as u32) as usize,
            read_latency: u64::from(timing.execute.read_latency.max(1)),
            mesh_latency: dim * tile
                + (dim - 1) * tile
                + u64::from(timing.execute.mesh_output_delay)
                + 1,
            tags: timing.execute.tags.max(2) as usize,
            min_rows: timing.execute.min_rows.max(1),
            spad_bank_shift: shift(config.spad_rows(), config.spad_banks),
            acc_bank_shift: shift(config.acc_rows(), config.acc_banks),
            spad_banks: config.spad_banks.next_power_of_two() as usize,
            acc_banks: config.acc_banks.next_power_of_two() as usize,
        }
    }
}

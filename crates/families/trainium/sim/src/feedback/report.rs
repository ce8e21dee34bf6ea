//! Counters.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::critical::Step;
use crate::timing::{Machine, Slot, Timeline};
use crate::trace::{Engine, Operation, Tile, Trace};

/// What an engine did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineUse {
    /// The engine.
    pub engine: Engine,
    /// Microseconds of work; for the queues, averaged over them.
    pub active_us: f64,
    /// Share of the latency, in percent.
    pub active_time_percent: f64,
    /// Number of instructions or transfers.
    pub instructions: u64,
    /// Mean number of elements that an instruction streams in each partition.
    pub mean_elements: f64,
    /// Share of the work that is fixed cost rather than elements, in percent.
    pub overhead_percent: f64,
    /// Microseconds without work before its first instruction, between and after its last; launch
    /// left out. Of the queues, those in which none moves anything.
    pub idle_us: [f64; 3],
}

/// What a line of the kernel cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineUse {
    /// Line, from 1.
    pub line: u32,
    /// Engine.
    pub engine: Engine,
    /// Instruction.
    pub operation: String,
    /// Microseconds of work.
    pub active_us: f64,
    /// How often it ran.
    pub instructions: u64,
}

/// Traffic of one tensor in main memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorTraffic {
    /// Name of the input, or `line N` where it was made.
    pub tensor: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes read over size: 1 if everything is read once.
    pub reload_factor: f64,
}

/// On-chip memory at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MemorySample {
    /// Microseconds from the start.
    pub at_us: f64,
    /// Bytes in use in each partition of SBUF.
    pub sbuf_bytes: u64,
    /// Bytes in use in each partition of PSUM.
    pub psum_bytes: u64,
}

/// The report of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Latency in microseconds.
    pub total_time_us: f64,
    /// Largest pure work of an engine, of the queues or of main memory: no schedule is faster.
    pub lower_bound_us: f64,
    /// What sets the lower bound.
    pub lower_bound_by: String,
    /// Engines, in the order of [`Engine::ALL`]; the sequencer only where it had to do.
    pub engines: Vec<EngineUse>,
    /// The costliest lines, costliest first.
    pub lines: Vec<LineUse>,
    /// Bytes read from main memory.
    pub hbm_read_bytes: u64,
    /// Bytes written to main memory.
    pub hbm_write_bytes: u64,
    /// Bytes of the inputs that are read and of the outputs: what any kernel must move.
    pub compulsory_bytes: u64,
    /// Bytes moved for lack of on-chip memory.
    pub spill_reload_bytes: u64,
    /// Achieved bandwidth of main memory in GB/s.
    pub hbm_bandwidth: f64,
    /// Mean bytes of a descriptor.
    pub mean_descriptor_bytes: f64,
    /// Mean bytes of a transfer.
    pub mean_transfer_bytes: f64,
    /// Traffic of each tensor in main memory.
    pub traffic: Vec<TensorTraffic>,
    /// Most bytes in use in each partition of SBUF, in program order.
    pub peak_sbuf_bytes: u64,
    /// Use of the on-chip memories over time, 32 samples at most.
    pub memory: Vec<MemorySample>,
    /// Operations of the matrix engine, transposes and broadcasts left out.
    pub useful_flops: u64,
    /// Share of the peak rate of the matrix engine for two-byte types, in percent.
    pub tensor_utilization_percent: f64,
    /// Operations for each byte of traffic.
    pub mm_arithmetic_intensity: f64,
    /// Where the latency comes from: chains of what waited for what, longest first.
    pub critical_path: Vec<Step>,
}

pub(super) fn measure(trace: &Trace, timeline: &Timeline, machine: &Machine) -> Report {
    let total = timeline.latency_ns.max(1.0);
    let mut active = [0.0f64; Engine::COUNT];
    let mut counts = [0u64; Engine::COUNT];
    let mut elements = [0u64; Engine::COUNT];
    let mut lines: BTreeMap<(u32, Engine, Operation0), (f64, u64)> = BTreeMap::new();
    let (mut read, mut written, mut spilled) = (0u64, 0u64, 0u64);
    let (mut transfers, mut descriptors) = (0u64, 0u64);
    let mut per_tensor: HashMap<u32, (u64, u64)> = HashMap::new();
    for (instruction, slot) in timeline.instructions.iter().zip(&timeline.slots) {
        let engine = slot.engine;
        let at = engine as usize;
        let busy = match (&instruction.transfer, engine) {
            (Some(transfer), _) => {
                read += transfer.hbm_read;
                written += transfer.hbm_written;
                if transfer.spill {
                    spilled += transfer.hbm_read + transfer.hbm_written;
                }
                transfers += 1;
                descriptors += u64::from(transfer.rows) * u64::from(transfer.runs);
                for region in &instruction.reads {
                    if timeline
                        .tensors
                        .get(region.tile.tensor as usize)
                        .is_some_and(|t| !t.buffer.on_chip())
                    {
                        per_tensor.entry(region.tile.tensor).or_default().0 += transfer.hbm_read;
                    }
                }
                for region in &instruction.writes {
                    if timeline
                        .tensors
                        .get(region.tile.tensor as usize)
                        .is_some_and(|t| !t.buffer.on_chip())
                    {
                        per_tensor.entry(region.tile.tensor).or_default().1 += transfer.hbm_written;
                    }
                }
                if engine == Engine::Dma {
                    machine.dma.work_ns(transfer) / machine.dma.queues as f64
                } else {
                    slot.released - slot.start
                }
            }
            _ => slot.released - slot.start,
        };
        active[at] += busy;
        counts[at] += 1;
        elements[at] += u64::from(instruction.free);
        let entry = lines
            .entry((instruction.line, engine, Operation0(instruction.operation)))
            .or_default();
        entry.0 += busy;
        entry.1 += 1;
    }
    let queues = timeline.queue_busy.len().max(1) as f64;
    active[Engine::Dma as usize] = timeline.queue_busy.iter().sum::<f64>() / queues;
    let engines: Vec<EngineUse> = Engine::ALL
        .into_iter()
        .filter(|engine| *engine != Engine::Sync || 0 < counts[*engine as usize])
        .map(|engine| {
            let at = engine as usize;
            let overhead = match engine {
                Engine::Tensor => machine.tensor.overhead_cycles / machine.tensor.ghz,
                Engine::Vector => machine.vector.overhead_cycles / machine.vector.ghz,
                Engine::Scalar => machine.scalar.overhead_cycles / machine.scalar.ghz,
                Engine::Gpsimd => machine.gpsimd.overhead_cycles / machine.gpsimd.ghz,
                Engine::Dma => {
                    machine.dma.descriptor_ns * descriptors as f64
                        / queues
                        / counts[at].max(1) as f64
                }
                Engine::Sync => machine.scalar.floor_cycles / machine.scalar.ghz,
            } * counts[at] as f64;
            EngineUse {
                engine,
                active_us: active[at] / 1000.0,
                active_time_percent: 100.0 * active[at] / total,
                instructions: counts[at],
                mean_elements: elements[at] as f64 / counts[at].max(1) as f64,
                overhead_percent: if active[at] > 0.0 {
                    (100.0 * overhead / active[at]).min(100.0)
                } else {
                    0.0
                },
                idle_us: idle(timeline, engine, active[at]),
            }
        })
        .collect();
    let mut costly: Vec<LineUse> = lines
        .into_iter()
        .map(
            |((line, engine, operation), (busy, instructions))| LineUse {
                line,
                engine,
                operation: operation.0.name().to_owned(),
                active_us: busy / 1000.0,
                instructions,
            },
        )
        .collect();
    costly.sort_by(|a, b| {
        b.active_us
            .total_cmp(&a.active_us)
            .then(a.line.cmp(&b.line))
    });
    costly.truncate(12);
    let mut traffic: Vec<TensorTraffic> = per_tensor
        .into_iter()
        .filter_map(|(id, (read, written))| {
            let tensor = timeline.tensors.get(id as usize)?;
            let name = if tensor.input || !tensor.name.is_empty() {
                tensor.name.to_string()
            } else {
                format!("line {}", tensor.line)
            };
            Some(TensorTraffic {
                tensor: name,
                bytes: tensor.bytes,
                read,
                written,
                reload_factor: read as f64 / tensor.bytes.max(1) as f64,
            })
        })
        .collect();
    traffic.sort_by(|a, b| {
        (b.read + b.written)
            .cmp(&(a.read + a.written))
            .then(a.tensor.cmp(&b.tensor))
    });
    let compulsory = trace
        .tensors
        .iter()
        .filter(|t| {
            t.output || (t.input && traffic.iter().any(|u| *u.tensor == *t.name && u.read > 0))
        })
        .map(|t| t.bytes)
        .sum();
    let weighed = read as f64 + written as f64 * machine.dma.hbm_write_weight;
    let hbm = weighed / machine.dma.hbm_bytes_per_ns;
    let (bound, by) = Engine::ALL
        .into_iter()
        .map(|engine| (active[engine as usize], format!("{} engine", engine.name())))
        .chain([(hbm, "main memory".to_owned())])
        .fold((0.0, String::new()), |best, one| {
            if one.0 > best.0 { one } else { best }
        });
    let useful_flops = trace.matrix_flops.saturating_sub(trace.moving_flops);
    let peak_rate = 2.0 * 128.0 * 128.0 * machine.tensor.ghz;
    Report {
        total_time_us: total / 1000.0,
        lower_bound_us: bound / 1000.0,
        lower_bound_by: by,
        engines,
        lines: costly,
        hbm_read_bytes: read,
        hbm_write_bytes: written,
        compulsory_bytes: compulsory,
        spill_reload_bytes: spilled,
        hbm_bandwidth: (read + written) as f64 / total,
        mean_descriptor_bytes: (read + written) as f64 / descriptors.max(1) as f64,
        mean_transfer_bytes: (read + written) as f64 / transfers.max(1) as f64,
        traffic,
        peak_sbuf_bytes: timeline.peak_sbuf,
        memory: memory(timeline, total),
        useful_flops,
        tensor_utilization_percent: 100.0 * useful_flops as f64 / peak_rate / total,
        mm_arithmetic_intensity: useful_flops as f64 / (read + written).max(1) as f64,
        critical_path: Vec::new(),
    }
}

/// Microseconds without work of an engine at the beginning, in the middle and at the end.
fn idle(timeline: &Timeline, engine: Engine, active: f64) -> [f64; 3] {
    let own = timeline.slots.iter().filter(|it| it.engine == engine);
    let span = |(first, last): (f64, f64), it: &Slot| (it.start.min(first), it.released.max(last));
    let (first, last) = own.fold((f64::INFINITY, 0.0), span);
    let end = timeline
        .slots
        .iter()
        .fold(0.0, |end: f64, it| end.max(it.done));
    if end <= first {
        return [end / 1000.0, 0.0, 0.0];
    }
    let busy = match engine {
        Engine::Dma => timeline.any_queue_busy,
        _ => active,
    };
    [first, last - first - busy, end - last].map(|it| it.max(0.0) / 1000.0)
}

/// Operations in the order of their names.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Operation0(Operation);
impl Ord for Operation0 {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.name().cmp(other.0.name())
    }
}
impl PartialOrd for Operation0 {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// On-chip memory over time: a tile lives from the start of its first writer to the end of its
/// last reader.
fn memory(timeline: &Timeline, total: f64) -> Vec<MemorySample> {
    const SAMPLES: usize = 32;
    let mut lives: HashMap<Tile, (f64, f64)> = HashMap::new();
    for (instruction, slot) in timeline.instructions.iter().zip(&timeline.slots) {
        for region in instruction.reads.iter().chain(&instruction.writes) {
            if timeline
                .tensors
                .get(region.tile.tensor as usize)
                .is_some_and(|t| t.buffer.on_chip())
            {
                let life = lives.entry(region.tile).or_insert((slot.start, slot.done));
                life.0 = life.0.min(slot.start);
                life.1 = life.1.max(slot.done);
            }
        }
    }
    let mut changes = vec![[0i64; 2]; SAMPLES + 1];
    for (tile, (from, to)) in lives {
        let Some(tensor) = timeline.tensors.get(tile.tensor as usize) else {
            continue;
        };
        let kind = usize::from(tensor.buffer == crate::tensor::storage::Buffer::Psum);
        let place = |t: f64| ((t / total * SAMPLES as f64).ceil() as usize).min(SAMPLES);
        changes[place(from)][kind] += tensor.bytes as i64;
        changes[place(to)][kind] -= tensor.bytes as i64;
    }
    let mut level = [0i64; 2];
    let mut samples = Vec::with_capacity(SAMPLES);
    for (position, change) in changes.iter().take(SAMPLES).enumerate() {
        level[0] += change[0];
        level[1] += change[1];
        samples.push(MemorySample {
            at_us: total / 1000.0 * position as f64 / SAMPLES as f64,
            sbuf_bytes: level[0].max(0) as u64,
            psum_bytes: level[1].max(0) as u64,
        });
    }
    samples
}

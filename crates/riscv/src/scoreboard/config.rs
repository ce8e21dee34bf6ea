//! Parameters of cores that issue in order, several instructions a cycle, as data.

use crate::vector::VectorClass;
use serde::{Deserialize, Serialize};

/// What a scalar instruction is, for its costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ScalarClass {
    /// Addition, logic, shifts, comparisons, and what Zba, Zbb and Zbs add.
    Simple,
    /// `lui`, `auipc`.
    Constant,
    Load,
    Store,
    FloatLoad,
    FloatStore,
    Multiply,
    MultiplyWord,
    Divide,
    DivideWord,
    FloatAdd,
    FloatDouble,
    FloatFused,
    FloatSign,
    /// Comparisons, conversions and moves to integers.
    FloatToInteger,
    FloatFromInteger,
    FloatDivide,
    FloatDivideDouble,
    FloatRoot,
    FloatRootDouble,
    Branch,
    Jump,
    Atomic,
    /// Control registers, fences and the like.
    System,
    /// `vsetvli` and its like.
    Configure,
}

impl ScalarClass {
    /// How many classes there are.
    pub const COUNT: usize = Self::Configure as usize + 1;
}

/// What scalar instructions of some classes cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarCost {
    /// The classes.
    pub classes: Vec<ScalarClass>,
    /// Name of the unit that the instruction keeps busy; those without one need no more than a
    /// place to issue.
    #[serde(default)]
    pub unit: Option<String>,
    /// Cycles for which it does.
    #[serde(default)]
    pub busy: f64,
    /// Cycles until an instruction can issue that uses the result.
    pub latency: u64,
}

/// What vector instructions of some classes cost.
///
/// An instruction keeps its unit busy for the largest of `floor` and of the sum of what stands in
/// `busy` for its LMUL, `per_group` times the parts of the width of the datapath in which its
/// `vl` elements lie, `per_element` times `vl`, `per_capacity` times the elements of a full
/// group, and `plus`. For segments all but `plus` counts once for each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorCost {
    /// The classes.
    pub classes: Vec<VectorClass>,
    /// Name of the unit.
    pub unit: String,
    /// Cycles for an LMUL below 1, and for 1, 2, 4 and 8: one row, or four for elements of 8, 16,
    /// 32 and 64 bits. Accesses have the width and the LMUL of what lies in memory.
    #[serde(default)]
    pub busy: Vec<[f64; 5]>,
    /// Cycles, see above.
    #[serde(default)]
    pub per_group: f64,
    /// Cycles, see above.
    #[serde(default)]
    pub per_element: f64,
    /// Cycles, see above.
    #[serde(default)]
    pub per_capacity: f64,
    /// Cycles, see above, also less than 0: none, one number for all, or one for each LMUL as in
    /// `busy`.
    #[serde(default)]
    pub plus: Vec<f64>,
    /// Cycles, see above.
    #[serde(default)]
    pub floor: f64,
    /// What stands instead of `busy` for instructions with a mask, if they differ.
    #[serde(default)]
    pub masked: Vec<[f64; 5]>,
    /// What a mask adds to the cycles.
    #[serde(default)]
    pub masked_plus: f64,
    /// Cycles from the start to the result's first part, for each LMUL as in `busy`: to all of it
    /// it takes as long as the unit is busy, or these if that is longer. One number holds for all.
    pub latency: Vec<f64>,
    /// Whether one that needs the result may begin with its first part.
    #[serde(default = "yes")]
    pub chains: bool,
}

fn yes() -> bool {
    true
}

/// The vector unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorTiming {
    /// Bits of a register.
    pub vlen: usize,
    /// Bits that a unit handles at once (`per_group`).
    pub datapath_bits: usize,
    /// Instructions that have left the scalar pipeline and not begun yet, at most.
    pub queue: usize,
    /// Cycles from issue in the scalar pipeline to the earliest start.
    pub dispatch: u64,
    /// Whether instructions start in program order; otherwise those of one unit do.
    pub in_order: bool,
    /// Elements of 16 bits may be floating-point numbers (Zvfh).
    pub half: bool,
    /// What instructions cost.
    pub costs: Vec<VectorCost>,
}

/// A cache, or the memory behind the last one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryLevel {
    /// What people call it.
    pub name: String,
    /// Bytes that it holds; 0 for memory, which holds everything.
    #[serde(default)]
    pub bytes: usize,
    /// Lines of 64 bytes of a set; 0 for memory.
    #[serde(default)]
    pub ways: usize,
    /// Cycles that the first access to a line takes longer, if it was not foreseen.
    pub latency: u64,
    /// Cycles between lines that are read one behind the other.
    pub read_line_cycles: f64,
    /// Cycles between lines that are written.
    pub write_line_cycles: f64,
}

/// Branches and jumps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchTiming {
    /// Cycles that are lost behind one that was foreseen and is taken.
    pub taken_cycles: f64,
    /// Cycles that are lost behind one that was not foreseen.
    pub mispredict_cycles: f64,
    /// Base-2 logarithm of the counters that foresee branches, at most 16.
    pub counter_bits: u32,
    /// Outcomes of branches that choose among them, at most `counter_bits`.
    pub history_bits: u32,
    /// Calls whose return is foreseen.
    pub return_stack: usize,
}

/// A core that issues in order: its scalar part, its vector unit and its memory.
///
/// Times are in core cycles; parts of a cycle are rounded to sixteenths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreboardConfig {
    /// Instructions that issue in a cycle at most.
    pub issue_width: u64,
    /// What scalar instructions cost; each class stands there once.
    pub scalar: Vec<ScalarCost>,
    /// Branches and jumps.
    pub branches: BranchTiming,
    /// The first cache of instructions.
    pub instruction_cache: MemoryLevel,
    /// The first cache of data: its `latency` and cycles of lines are part of what loads cost.
    pub data_cache: MemoryLevel,
    /// What lies behind both, the memory last.
    pub levels: Vec<MemoryLevel>,
    /// Lines that are fetched ahead of a stream.
    pub lines_ahead: u64,
    /// Streams that are followed.
    pub streams: usize,
    /// Lines that wait to be written before stores have to wait.
    pub store_buffer: u64,
    /// The vector unit, if there is one.
    #[serde(default)]
    pub vector: Option<VectorTiming>,
}

impl ScoreboardConfig {
    /// Checks what the types do not say.
    ///
    /// # Errors
    /// A sentence about what is wrong, for people.
    pub fn check(&self) -> Result<(), String> {
        let is_time = |cycles: f64| (0.0..=1e6).contains(&cycles);
        for idx in 0..ScalarClass::COUNT {
            let count = self.scalar.iter().flat_map(|row| &row.classes);
            match count.filter(|class| **class as usize == idx).count() {
                1 => {}
                count => {
                    return Err(format!(
                        "scalar class {idx} stands {count} times in `scalar`"
                    ));
                }
            }
        }
        if !self
            .scalar
            .iter()
            .all(|row| is_time(row.busy) && row.latency <= 1000)
        {
            return Err("a cost in `scalar` is negative or too large".to_owned());
        }
        if !(1..=16).contains(&self.issue_width) || self.levels.is_empty() {
            return Err("`issue_width` is 1 to 16, and `levels` ends with the memory".to_owned());
        }
        let caches = [&self.instruction_cache, &self.data_cache];
        for (idx, level) in caches.into_iter().chain(&self.levels).enumerate() {
            let sets = level.bytes / 64 / level.ways.max(1);
            let is_cache = sets.is_power_of_two() && level.ways > 0;
            let is_memory = level.bytes == 0 && idx == self.levels.len() + 1;
            let times = [level.read_line_cycles, level.write_line_cycles];
            if !(is_cache || is_memory) || !times.into_iter().all(is_time) {
                return Err(format!(
                    "`{}` is no cache and not the memory at the end",
                    level.name
                ));
            }
        }
        let branches = &self.branches;
        if branches.counter_bits > 16 || branches.history_bits > branches.counter_bits {
            return Err("`branches` has at most 16 `counter_bits` and no more history".to_owned());
        }
        self.vector.as_ref().map_or(Ok(()), VectorTiming::check)
    }
}

impl VectorTiming {
    fn check(&self) -> Result<(), String> {
        if !self.vlen.is_power_of_two() || !(128..=1024).contains(&self.vlen) {
            return Err("`vlen` is 128, 256, 512 or 1024".to_owned());
        }
        if self.datapath_bits < 64 || !(1..=64).contains(&self.queue) {
            return Err("`datapath_bits` is at least 64, `queue` 1 to 64".to_owned());
        }
        let mut counts = [0; VectorClass::COUNT];
        for row in &self.costs {
            for class in &row.classes {
                counts[*class as usize] += 1;
            }
            if [&row.busy, &row.masked]
                .into_iter()
                .any(|rows| !matches!(rows.len(), 0 | 1 | 4))
                || !matches!(row.latency.len(), 1 | 5)
                || !matches!(row.plus.len(), 0 | 1 | 5)
            {
                return Err(format!(
                    "`busy` of {:?} has 0, 1 or 4 rows, `plus` 0, 1 or 5 numbers, `latency` 1 or 5",
                    row.classes
                ));
            }
        }
        // `vsetvli` is an instruction of the scalar part.
        counts[VectorClass::Configure as usize] += 1;
        match counts.iter().position(|count| *count != 1) {
            Some(idx) => Err(format!("vector class {idx} stands {} times", counts[idx])),
            None => Ok(()),
        }
    }
}

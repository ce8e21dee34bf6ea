//! What the core spends its cycles on, line by line.

use autocomp_riscv::{CoreStatistics, Memory};
use autocomp_riscv_machine::ObservedBlock;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Blocks kept in order at most.
const MAX_BLOCKS: usize = 2_000_000;

/// What the core spends on one line of the kernel, whatever else happens meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreLine {
    /// Line from 1; null for what belongs to none.
    pub line: Option<u32>,
    /// Its text without blanks around it.
    pub text: String,
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles, without those waited for the accelerator and in fences.
    pub issue_cycles: u64,
    /// Cycles waited for the accelerator's queue and in fences.
    pub wait_cycles: u64,
}

/// Cycles of blocks of instructions, added up as they are executed.
#[derive(Debug, Default)]
pub struct CoreTally {
    blocks: HashMap<(u64, u64), BlockSum>,
    /// What was executed when, from the first block on.
    course: Vec<Step>,
}

/// A block that was executed, by addresses of its first and last instruction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The core's cycle before it.
    pub start: u64,
    /// The core's cycle behind it.
    pub end: u64,
    /// Address of its first instruction.
    pub first: u64,
    /// Address of its last instruction.
    pub last: u64,
    /// Cycles waited for the accelerator's queue and in fences.
    pub waits: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct BlockSum {
    times: u64,
    cycles: u64,
    waits: u64,
    misses: u64,
}

impl CoreTally {
    /// Adds a block.
    pub fn add(&mut self, block: &ObservedBlock) {
        let sum = self.blocks.entry((block.first, block.last)).or_default();
        let CoreStatistics {
            data_miss_cycles,
            fetch_miss_cycles,
            accelerator_wait_cycles,
            fence_wait_cycles,
            ..
        } = block.core;
        let waits = (accelerator_wait_cycles + fence_wait_cycles).min(block.cycles);
        if 0 < block.cycles && self.course.len() < MAX_BLOCKS {
            self.course.push(Step {
                start: block.cycle,
                end: block.cycle + block.cycles,
                first: block.first,
                last: block.last,
                waits,
            });
        }
        sum.times += 1;
        sum.cycles += block.cycles;
        sum.waits += waits;
        sum.misses += (data_miss_cycles + fetch_miss_cycles).min(block.cycles - waits);
    }

    /// Returns what was executed when, in order; without the end of long calls.
    pub fn course(&self) -> &[Step] {
        &self.course
    }

    /// Returns the sums by line, most first. Every instruction of a block is
    /// given a cycle per execution, and what the block takes beyond that is
    /// shared among those that can wait: custom instructions for waits, loads
    /// and stores for misses, all for the rest.
    pub fn lines(
        &self,
        memory: &Memory,
        mut line_of: impl FnMut(u64) -> Option<u32>,
        text_of: impl Fn(u32) -> String,
    ) -> Vec<CoreLine> {
        let mut sums: BTreeMap<Option<u32>, [u64; 3]> = BTreeMap::new();
        let mut blocks: Vec<_> = self.blocks.iter().collect();
        blocks.sort_unstable_by_key(|(place, _)| **place);
        for ((first, last), sum) in blocks {
            let instructions = instructions(memory, *first, *last);
            if instructions.is_empty() || sum.cycles == 0 {
                // A block that never ran to an instruction: the return itself.
                sums.entry(None).or_default()[1] += sum.cycles - sum.waits;
                sums.entry(None).or_default()[2] += sum.waits;
                continue;
            }
            let all: Vec<u64> = instructions.iter().map(|it| it.0).collect();
            let that = |kind: InstructionKind| -> Vec<u64> {
                let some = instructions.iter().filter(|it| it.1 == kind);
                some.map(|it| it.0).collect()
            };
            let mut custom = that(InstructionKind::Custom);
            custom.extend(that(InstructionKind::Fence));
            let memory_access = that(InstructionKind::Memory);
            let issue = sum.cycles - sum.waits;
            let misses = sum.misses.min(issue);
            for pc in &all {
                sums.entry(line_of(*pc)).or_default()[0] += sum.times;
            }
            let mut share = |cycles: u64, among: &[u64], column: usize| {
                let among = if among.is_empty() { &all[..] } else { among };
                let n = among.len() as u64;
                for (place, pc) in among.iter().enumerate() {
                    let part = cycles / n + u64::from((place as u64) < cycles % n);
                    sums.entry(line_of(*pc)).or_default()[column] += part;
                }
            };
            share(issue - misses, &all, 1);
            share(misses, &memory_access, 1);
            share(sum.waits, &custom, 2);
        }
        let mut lines: Vec<CoreLine> = sums
            .into_iter()
            .map(
                |(line, [instructions, issue_cycles, wait_cycles])| CoreLine {
                    line,
                    text: line.map(&text_of).unwrap_or_default(),
                    instructions,
                    issue_cycles,
                    wait_cycles,
                },
            )
            .collect();
        lines.sort_by_key(|it| std::cmp::Reverse(it.issue_cycles));
        lines
    }
}

/// What an instruction may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    /// A custom instruction.
    Custom,
    /// A fence.
    Fence,
    /// A load, a store or an atomic.
    Memory,
    /// Any other.
    Other,
}

/// Returns address and kind of the instructions from `first` to `last`.
#[must_use]
pub fn instructions(memory: &Memory, first: u64, last: u64) -> Vec<(u64, InstructionKind)> {
    let mut found = Vec::new();
    let mut pc = first;
    while pc <= last && found.len() < 128 {
        let Some(half) = memory.host(pc, 2) else {
            break;
        };
        let half = u16::from_le_bytes([half[0], half[1]]);
        let wide = half & 3 == 3;
        // Major opcodes of the RISC-V manual: custom-0 to custom-3, fences,
        // loads, stores, atomics, and their compressed forms.
        let kind = match (wide, half & 0x7f, half & 3, half >> 13) {
            (true, 0x0b | 0x2b | 0x5b | 0x7b, ..) => InstructionKind::Custom,
            (true, 0x0f, ..) => InstructionKind::Fence,
            (true, 0x03 | 0x07 | 0x23 | 0x27 | 0x2f, ..) => InstructionKind::Memory,
            (false, _, 0 | 2, 1..=3 | 5..=7) => InstructionKind::Memory,
            _ => InstructionKind::Other,
        };
        found.push((pc, kind));
        pc += if wide { 4 } else { 2 };
    }
    found
}

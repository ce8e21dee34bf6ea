//! What a call does on vectors, instruction by instruction.

use crate::texts::TEXTS;
use autocomp_eval::text::grouped;
use autocomp_riscv::{Cause, Spent, VectorClass};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Classes and lines that are named at most.
const MOST_NAMED: usize = 5;

/// The least share of a call that waiting stores are told for.
const LEAST_SHARE: f64 = 0.03;

/// What a call does on vectors.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VectorWork {
    /// Whether the kernel names no vectors, so that all are the compiler's doing.
    pub is_compilers: bool,
    /// Instructions by class, `vsetvli` left out.
    pub classes: BTreeMap<VectorClass, u64>,
    /// Lines with such instructions.
    pub lines: BTreeMap<u32, u64>,
    /// Loads and stores of whole registers by line: registers that the compiler keeps on the stack.
    pub spills: BTreeMap<u32, u64>,
    /// Cycles that stores wait for their values, by line.
    pub waiting_stores: BTreeMap<u32, f64>,
}

impl VectorWork {
    pub(crate) fn of_source(source: &str) -> Self {
        Self {
            is_compilers: !source.contains("__riscv_v") && !source.contains("vector_size"),
            ..Self::default()
        }
    }

    /// Adds what the instruction `bits` of `line` cost. Code of the runtime, which has no line,
    /// counts as line 0.
    pub(crate) fn add(&mut self, bits: u32, line: Option<u32>, spent: &Spent) {
        let class = VectorClass::of_instruction(bits);
        let Some(class) = class.filter(|it| *it != VectorClass::Configure) else {
            return;
        };
        let line = line.unwrap_or_default();
        *self.classes.entry(class).or_default() += spent.count;
        *self.lines.entry(line).or_default() += spent.count;
        if matches!(
            class,
            VectorClass::LoadRegisters | VectorClass::StoreRegisters
        ) {
            *self.spills.entry(line).or_default() += spent.count;
        }
        let waited = spent.cycles[Cause::Dependency as usize];
        if class.is_store() && 0.0 < waited {
            *self.waiting_stores.entry(line).or_default() += waited;
        }
    }

    /// Returns how many of the instructions are on vectors, as the end of a clause.
    pub(crate) fn share(&self) -> String {
        let total: u64 = self.classes.values().sum();
        if total == 0 {
            return TEXTS.sentences.of("no-vectors").clone();
        }
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), **class));
        let named = classes.iter().take(MOST_NAMED);
        let named = named.map(|(class, count)| format!("{} {}", grouped(**count), name(**class)));
        let named: Vec<String> = named.collect();
        let compiled = match self.is_compilers {
            true => TEXTS
                .sentences
                .filled("compilers-vectors", &[("places", &places(&self.lines))]),
            false => String::new(),
        };
        let values: [(&str, &dyn Display); 3] = [
            ("count", &grouped(total)),
            ("classes", &named.join(", ")),
            ("compiled", &compiled),
        ];
        TEXTS.sentences.filled("vectors", &values)
    }

    /// Returns what is to be said of registers kept on the stack, as a sentence.
    pub(crate) fn spills(&self) -> String {
        let total: u64 = self.spills.values().sum();
        if total == 0 {
            return String::new();
        }
        let values: [(&str, &dyn Display); 2] = [
            ("count", &grouped(total)),
            ("places", &places(&self.spills)),
        ];
        TEXTS.sentences.filled("spills", &values)
    }

    /// Returns how long stores wait for their values in a call of `cycles`, as a sentence, if that
    /// matters.
    pub(crate) fn waiting_stores(&self, cycles: u64) -> String {
        let total: f64 = self.waiting_stores.values().sum();
        if total < LEAST_SHARE * cycles as f64 {
            return String::new();
        }
        let lines = self.waiting_stores.iter();
        let lines = lines.map(|(line, waited)| (*line, waited.round() as u64));
        let values: [(&str, &dyn Display); 2] = [
            ("count", &grouped(total.round() as u64)),
            ("places", &places(&lines.collect())),
        ];
        TEXTS.sentences.filled("waiting-stores", &values)
    }
}

/// Returns the name of a class for people.
fn name(class: VectorClass) -> String {
    let value = serde_json::to_value(class).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('-', " ")
}

/// Returns the lines with most of something, as the end of a clause.
fn places(lines: &BTreeMap<u32, u64>) -> String {
    let mut most: Vec<_> = lines.iter().filter(|(line, _)| 0 < **line).collect();
    most.sort_by_key(|(line, count)| (std::cmp::Reverse(**count), **line));
    most.truncate(MOST_NAMED);
    most.sort();
    match most.len() {
        0 => String::new(),
        1 => TEXTS.sentences.filled("one-line", &[("line", &most[0].0)]),
        _ => {
            let lines: Vec<String> = most.iter().map(|(line, _)| line.to_string()).collect();
            TEXTS
                .sentences
                .filled("lines", &[("lines", &lines.join(", "))])
        }
    }
}

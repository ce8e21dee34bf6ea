//! Kernels on floats, element by element: sums of elements and of products of two, whoever adds
//! them up.

use super::trace::Trace;
use super::values::{self, Id, Values};
use super::{Reason, group, head, program, read_twice, run};
use crate::graph::Chain;
use crate::memory::Memory;
use crate::normalise::Vocabulary;
use autocomp_gemmini::{Elements, GemminiConfig};
use std::collections::BTreeMap;

/// What a kernel on floats leaves in memory, element by element.
#[derive(Debug)]
pub struct Elementwise {
    memories: Vec<Memory>,
    values: Values,
    /// Elements of parameters that are changed.
    outputs: BTreeMap<(usize, i64), Id>,
    written: Vec<group::Written>,
    head: String,
}

impl Elementwise {
    /// Follows a kernel.
    ///
    /// # Errors
    /// What cannot be followed.
    pub fn of(
        source: &str,
        config: &GemminiConfig,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Reason> {
        if config.elements != Elements::Float32 {
            return Err(Reason::at(0, "results are rounded to integers"));
        }
        read_twice(source, |text| Self::follow(text, config, vocabulary))
    }

    fn follow(
        source: &str,
        config: &GemminiConfig,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Reason> {
        let program = program(source, config, vocabulary)?;
        let mut trace = Trace::new(config, &program.memories);
        run::run(&program, &mut trace)?;
        let outputs: BTreeMap<(usize, i64), Id> = trace
            .contents
            .iter()
            .filter(|((array, _), _)| program.memories[*array].is_parameter)
            .map(|(place, id)| (*place, *id))
            .filter(|(place, id)| {
                let (array, element) = *place;
                *trace.values.get(*id) != values::Value::Given { array, element }
            })
            .collect();
        let (values, written) = (trace.values, trace.written);
        Ok(Self {
            head: head(source, &program, &|_| false),
            memories: program.memories,
            values,
            outputs,
            written,
        })
    }

    /// Returns whether two kernels leave the same in memory, whatever they are given.
    pub fn is_same(&self, other: &Self) -> bool {
        let prints = |kernel: &Self| -> Vec<((usize, i64), u64)> {
            let given = |array: usize, element: i64| {
                // Any numbers do that have nothing to do with each other.
                let seed = autocomp_core::Seed((array as u64) << 40 | element as u64);
                let name = &kernel.memories[array].name;
                seed.derive(name).next_u64()
            };
            let prints = kernel.values.fingerprints(&given);
            let outputs = kernel.outputs.iter();
            outputs
                .map(|(place, id)| (*place, prints[*id as usize]))
                .collect()
        };
        prints(self) == prints(other)
    }

    /// Finds the matrices that it computes.
    ///
    /// # Errors
    /// What forms no matrices.
    pub fn chain(&self) -> Result<Chain, Reason> {
        let outputs: Vec<Id> = self.outputs.values().copied().collect();
        let nowhere = |text: String| Reason::at(0, &text);
        let (values, numbers) = self.values.fused(&outputs).map_err(nowhere)?;
        let outputs = self
            .outputs
            .iter()
            .map(|(place, id)| (*place, numbers[id]))
            .collect();
        let written: Vec<group::Written> = self
            .written
            .iter()
            .filter_map(|(array, element, id)| Some((*array, *element, *numbers.get(id)?)))
            .collect();
        let graph = group::group(&values, &written, &outputs, &self.memories).map_err(nowhere)?;
        Ok(Chain {
            memories: self.memories.clone(),
            graph,
            head: self.head.clone(),
        })
    }
}

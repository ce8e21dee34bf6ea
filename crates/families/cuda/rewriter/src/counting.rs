//! Counters: elements say which place of a small array is increased.

use crate::GpuResources;
use crate::change::Change;
use crate::expression::{Along, Expression, along};
use crate::launch_text::{Written, vector_type};
use crate::nest::Nest;
use crate::step::Step;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
use serde::{Deserialize, Serialize};

/// How counters are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    /// Places of the array.
    pub places: i64,
    /// Copies of it in each block.
    pub copies: i64,
    /// Elements that are loaded at once.
    pub vector: i64,
    /// Threads of a block.
    pub threads: i64,
    /// Blocks.
    pub blocks: i64,
}

struct Counted<'n> {
    function: &'n str,
    array: &'n str,
    index: &'n Expression,
    value: &'n Expression,
}

fn counted(nest: &Nest) -> Option<Counted<'_>> {
    let (
        [
            Step::Atomic {
                function,
                array,
                index,
                value,
            },
        ],
        [_],
    ) = (nest.steps.as_slice(), nest.points.as_slice())
    else {
        return None;
    };
    let is_whole = matches!(
        nest.kind_of(array),
        "int" | "unsigned" | "uint32_t" | "int32_t"
    );
    (function == "atomicAdd" && is_whole && value.as_index().is_some() && !index.reads(array))
        .then_some(Counted {
            function,
            array,
            index,
            value,
        })
}

impl Counting {
    /// Returns the ways to keep counters.
    pub(crate) fn all(nest: &Nest, machine: &GpuResources) -> Vec<Self> {
        let Some(found) = counted(nest) else {
            return Vec::new();
        };
        let Some(places) = nest
            .extents
            .get(nest.given(found.array))
            .copied()
            .filter(|it| *it <= 4096)
        else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for vector in [1, 4] {
            if vector != 1 && !fits(nest, found.index, vector) {
                continue;
            }
            for threads in [256, 512] {
                for copies in [1, 2, 4, 8] {
                    if 40_000 < copies * places * 4 {
                        continue;
                    }
                    for waves in [1, 2, 4] {
                        let blocks = machine.sms as i64 * waves;
                        if blocks * threads * vector <= nest.count() {
                            all.push(Self {
                                places,
                                copies,
                                vector,
                                threads,
                                blocks,
                            });
                        }
                    }
                }
            }
        }
        all
    }

    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let elements = nest.count() as f64;
        let dram = elements * 4.0 / machine.dram_bytes_per_ns;
        let shared =
            elements / 32.0 * (2.0 + 6.0 / self.copies as f64) / (machine.sms * machine.clock_ghz);
        let flush = self.blocks as f64 * self.places as f64 / 32.0 / (machine.clock_ghz * 40.0);
        let narrow = if self.vector == 1 { 1.3 } else { 1.0 };
        let held = if self.blocks as f64 * self.threads as f64 <= machine.sms * 512.0 {
            1.15
        } else {
            1.0
        };
        (dram + shared) * narrow * held + flush + machine.launch_ns
    }

    pub(crate) fn write(&self, nest: &Nest, name: &str) -> Option<Written> {
        let Counted {
            function,
            array,
            index,
            value,
        } = counted(nest)?;
        let [point] = nest.points.as_slice() else {
            return None;
        };
        if self.vector != 1 && !fits(nest, index, self.vector) {
            return None;
        }
        if nest.extents.get(nest.given(array)) != Some(&self.places) {
            return None;
        }
        let Self {
            places,
            copies,
            vector,
            threads,
            blocks,
        } = *self;
        let mut text = Text::default();
        let all = places * copies;
        text.open(&format!(
            "__global__ void __launch_bounds__({threads}) {name}({})",
            nest.parameters_to_c()
        ));
        text.line(&format!("__shared__ {} own[{all}];", nest.kind_of(array)));
        text.line(&format!(
            "for (int place = threadIdx.x; place < {all}; place += {threads}) own[place] = 0;"
        ));
        text.line("__syncthreads();");
        let copy = if copies == 1 {
            String::new()
        } else {
            format!("threadIdx.x / 32 % {copies} * {places} + ")
        };
        let counter = &point.name;
        let whole = point.extent / vector * vector;
        text.line("#pragma unroll 2");
        text.open(&format!(
            "for (int {counter} = (blockIdx.x * {threads} + threadIdx.x) * {vector}; {counter} < {whole}; {counter} += {})",
            blocks * threads * vector
        ));
        if 1 < vector {
            let mut index = index.clone();
            let mut vectors = 0;
            for (of, at) in counted(nest)?.index.loads() {
                let affine = at.as_index()?;
                if along(affine, counter, whole, vector) != Along::Beside {
                    continue;
                }
                let kind = nest.kind_of(of);
                let wide = vector_type(kind, vector)?;
                text.line(&format!("__align__(16) {kind} v{vectors}[{vector}];"));
                text.line(&format!(
                    "*({wide}*)v{vectors} = *(const {wide}*)&{of}[{}];",
                    affine.to_c()
                ));
                let load = Expression::Load(of.clone(), Box::new(at.clone()));
                let place = Expression::Text(format!("v{vectors}[e]"));
                index = index.map(&|it| (*it == load).then(|| place.clone()));
                vectors += 1;
            }
            let moved = Affine::variable(counter).plus(&Affine::variable("e"))?;
            let index = index.with_index(counter, &moved);
            text.line("#pragma unroll");
            text.line(&format!(
                "for (int e = 0; e < {vector}; e++) {function}(&own[{copy}{}], {});",
                index.to_c(),
                value.with_index(counter, &moved).to_c()
            ));
        } else {
            text.line(&format!(
                "{function}(&own[{copy}{}], {});",
                index.to_c(),
                value.to_c()
            ));
        }
        text.close();
        if whole < point.extent {
            let own = Affine::variable(counter);
            text.open(&format!("for (int {counter} = {whole} + blockIdx.x * {threads} + threadIdx.x; {counter} < {}; {counter} += {})", point.extent, blocks * threads));
            text.line(&format!(
                "{function}(&own[{copy}{}], {});",
                index.with_index(counter, &own).to_c(),
                value.to_c()
            ));
            text.close();
        }
        text.line("__syncthreads();");
        text.open(&format!(
            "for (int place = threadIdx.x; place < {places}; place += {threads})"
        ));
        text.line(&format!("{} sum = own[place];", nest.kind_of(array)));
        if 1 < copies {
            text.line("#pragma unroll");
            text.line(&format!(
                "for (int copy = 1; copy < {copies}; copy++) sum += own[copy * {places} + place];"
            ));
        }
        text.line(&format!("if (sum != 0) {function}(&{array}[place], sum);"));
        text.close();
        text.close();
        Some(Written::launched(nest, name, text.lines, blocks, threads))
    }

    pub(crate) fn changes(&self, before: Option<&Self>) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        if before.map_or(0, |it| it.copies) != self.copies {
            found.push((Change::Privatise, format!(
                "Count in shared memory, in {} {} of {} places for each block, and add them to memory at the end.",
                self.copies,
                if self.copies == 1 { "copy" } else { "copies" },
                self.places
            )));
        }
        if before.map_or(1, |it| it.vector) != self.vector {
            found.push((
                Change::VectorizeLoads,
                format!("Load {} elements at once.", self.vector),
            ));
        }
        if before.map(|it| (it.threads, it.blocks)) != Some((self.threads, self.blocks)) {
            found.push((
                Change::GridStride,
                format!(
                    "Launch {} blocks of {} threads that go over all elements by turns.",
                    self.blocks, self.threads
                ),
            ));
        }
        found
    }
}

/// Returns whether elements that are looked up can be loaded as vectors.
fn fits(nest: &Nest, index: &Expression, vector: i64) -> bool {
    let [point] = nest.points.as_slice() else {
        return false;
    };
    let whole = point.extent / vector * vector;
    index.loads().iter().any(|(array, at)| {
        vector_type(nest.kind_of(array), vector).is_some()
            && at
                .as_index()
                .is_some_and(|it| along(it, &point.name, whole, vector) == Along::Beside)
    })
}

//! A problem: what must be computed, on which data, and known kernels for it.

mod argument;
mod calls;
mod checks;
mod fills;
mod load;
pub(crate) mod signature;

use crate::data_type::DataType;
use crate::distribution::{Distribution, viewed};
use crate::error::CatalogError;
pub use argument::{Argument, BufferArgument, TypeArgument};
use autocomp_core::{ContentHash, Seed};
pub(crate) use load::load;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read only; it must be unchanged afterwards.
    Input,
    /// Written in full; its content on entry is not to be relied upon.
    Output,
    /// Read and written; compared afterwards in full.
    Inout,
}

/// One argument of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Name, as in the signature.
    pub name: String,
    /// Type of the elements.
    pub dtype: DataType,
    /// Extents, outermost first; row-major and dense.
    pub shape: Vec<u64>,
    /// What the kernel may do with it.
    pub role: Role,
    /// Alignment in bytes, a power of two.
    #[serde(default = "default_alignment")]
    pub alignment: u64,
    /// Elements that have to be read or written, each once; all if absent. A
    /// task may leave parts of its buffers alone.
    #[serde(default)]
    pub used: Option<u64>,
}

fn default_alignment() -> u64 {
    64
}

impl Buffer {
    /// Returns the number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.elements() * self.dtype.bytes()
    }

    /// Returns the bytes that have to be moved at least.
    #[must_use]
    pub fn least_bytes(&self) -> u64 {
        let used = self.used.unwrap_or(self.elements() as u64);
        used * self.dtype.bytes() as u64
    }

    /// Returns whether the buffer has content before the kernel runs.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.role != Role::Output
    }

    /// Returns whether the buffer is compared after the kernel has run.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.role != Role::Input
    }
}

/// How the buffers that the kernel reads are filled for one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputSet {
    /// Name, unique in its problem.
    pub name: String,
    /// Whether every evaluation draws it anew instead of always alike.
    #[serde(default)]
    pub fresh: bool,
    /// The distribution of each buffer that is read, by name.
    #[serde(default)]
    pub fill: BTreeMap<String, Distribution>,
}

/// A name, and whether an element at a place, of so many, comes of the second of two draws.
pub type Mixture = (&'static str, fn(usize, usize) -> bool);

impl InputSet {
    /// Draws the content of `buffer`, one of `buffers`; none if the kernel does not read it.
    ///
    /// Each buffer has a random stream of its own, derived from `seed`, the
    /// name of the set and the name of the buffer; a view has what the other buffer has.
    #[must_use]
    pub fn draw(&self, buffer: &Buffer, buffers: &[Buffer], seed: Seed) -> Option<Vec<u8>> {
        let drawn = |buffer: &Buffer, fill: &Distribution| {
            fill.fill(buffer, seed.derive(&self.name).derive(&buffer.name))
        };
        let fill = self.fill.get(&buffer.name)?;
        let Distribution::View { of, axes } = fill else {
            return Some(drawn(buffer, fill));
        };
        let from = buffers.iter().find(|it| it.name == *of)?;
        let content = drawn(from, self.fill.get(of)?);
        Some(viewed(from, &content, buffer, axes))
    }

    /// Returns the set with few different numbers in each of `buffers`: two in those of the type
    /// that most elements have, one in the others, where they are drawn element by element.
    #[must_use]
    pub fn of_few_numbers(&self, buffers: &[Buffer]) -> Self {
        let read = || buffers.iter().filter(|buffer| buffer.is_read());
        let elements = |dtype: DataType| -> usize {
            let of_type = read().filter(|buffer| buffer.dtype == dtype);
            of_type.map(Buffer::elements).sum()
        };
        let main = read().map(|buffer| buffer.dtype);
        let main = main.max_by_key(|dtype| elements(*dtype));
        let few = |(name, fill): (&String, &Distribution)| {
            let buffer = buffers.iter().find(|buffer| buffer.name == *name);
            let is_main = buffer.is_some_and(|buffer| Some(buffer.dtype) == main);
            (name.clone(), fill.of_few(if is_main { 2 } else { 1 }))
        };
        Self {
            name: format!("{}, of few numbers", self.name),
            fresh: false,
            fill: self.fill.iter().map(few).collect(),
        }
    }

    /// Returns the set whose elements are what this one draws with the first seed, or with the
    /// second where `takes_second` says so of an element's place and the number of elements:
    /// inputs that have parts in common with others, and no more. Views have what the other
    /// buffer has. `name` stands behind that of the set.
    #[must_use]
    pub fn mixed(
        &self,
        buffers: &[Buffer],
        [first, second]: [Seed; 2],
        (name, takes_second): Mixture,
    ) -> Self {
        let mut mixed = self.clone();
        mixed.name += name;
        mixed.fresh = false;
        for buffer in buffers {
            let Some(fill) = mixed.fill.get_mut(&buffer.name) else {
                continue;
            };
            if matches!(fill, Distribution::View { .. }) {
                continue;
            }
            let drawn = [first, second].map(|seed| self.draw(buffer, buffers, seed));
            let [Some(first), Some(second)] = drawn else {
                continue;
            };
            let count = buffer.elements();
            let both = first
                .chunks(buffer.dtype.bytes())
                .zip(second.chunks(buffer.dtype.bytes()));
            let values = both.enumerate().map(|(place, (first, second))| {
                let bytes = if takes_second(place, count) {
                    second
                } else {
                    first
                };
                buffer.dtype.value(bytes)
            });
            *fill = Distribution::Table {
                file: String::new(),
                values: values.collect(),
            };
        }
        mixed
    }

    /// Returns whether elements of some buffer come from a table.
    #[must_use]
    pub fn has_table(&self) -> bool {
        let mut fills = self.fill.values();
        fills.any(|fill| matches!(fill, Distribution::Table { .. }))
    }
}

/// How far an output element may be from the reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Tolerance {
    /// Not at all.
    Exact {},
    /// By `relative` of the reference or by `absolute`, whichever is more.
    Close {
        /// Share of the reference's magnitude.
        relative: f64,
        /// Absolute distance.
        absolute: f64,
    },
}

/// One dimension of one buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisPosition {
    /// Index into [`Problem::buffers`].
    pub buffer: usize,
    /// Index into [`Buffer::shape`].
    pub dimension: usize,
}

/// A dimension along which the problem is symmetric: permuting the indices
/// jointly in all its positions turns inputs and right outputs into inputs
/// and right outputs of the same problem, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Name (`m`).
    pub name: String,
    /// Where it occurs.
    pub of: Vec<AxisPosition>,
}

/// Which run of a kernel ranks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranking {
    /// The second call, with what the first left in the caches.
    #[default]
    Warm,
    /// The first call.
    Cold,
}

/// What a reference is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceLanguage {
    /// Plain C.
    C,
    /// Python, with or without NumPy or PyTorch.
    Python,
}

impl ReferenceLanguage {
    /// Returns the name of the file that holds the reference.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::C => "reference.c",
            Self::Python => "reference.py",
        }
    }
}

/// The least any kernel must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Multiply-accumulate steps.
    pub macs: u64,
    /// Bytes that must be moved: each input and each output once.
    pub bytes: u64,
}

/// A problem, complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Name with its group (`GROUP/gemm-512x512x512`).
    pub name: String,
    /// Names of the targets that its kernels are written for, the customary one first; all
    /// of one family.
    pub targets: Vec<String>,
    /// What it computes, in a sentence.
    pub description: String,
    /// The function a kernel defines.
    pub entry: String,
    /// The whole signature, without a brace or semicolon.
    pub signature: String,
    /// Arguments in order.
    pub buffers: Vec<Buffer>,
    /// Tests.
    pub input_sets: Vec<InputSet>,
    /// How outputs are compared.
    pub tolerance: Tolerance,
    /// Symmetries, from which fresh inputs with known answers can be made.
    pub axes: Vec<Axis>,
    /// The least any kernel must do.
    pub work: Work,
    /// File and line of `work` (`…/problem.toml:12`), for whoever has to correct it.
    pub work_place: String,
    /// Which run ranks.
    pub ranking: Ranking,
    /// Preprocessor definitions for every build of a kernel or the reference.
    pub macros: BTreeMap<String, String>,
    /// Values that kernels get beside the buffers, by the names of their parameters; functions
    /// in C those that are parameters of the signature.
    pub arguments: BTreeMap<String, Argument>,
    /// Names that kernels written for another harness may use, with what they stand for there:
    /// for kernels that use them without defining them.
    pub harness: BTreeMap<String, String>,
    /// Source of the reference: plain C with the same signature, or a function in Python.
    pub reference: String,
    /// What it is written in.
    pub reference_language: ReferenceLanguage,
    /// Known kernels, by the stem of their file (`baseline`, `expert`).
    pub kernels: BTreeMap<String, String>,
    /// Hash of everything above.
    pub content_hash: ContentHash,
    /// Hash of all but the kernels: what decides whether an answer is right.
    pub oracle_hash: ContentHash,
}

impl Problem {
    /// Returns the input set of timed calls: the last one.
    #[must_use]
    pub fn timed_set(&self) -> Option<&InputSet> {
        self.input_sets.last()
    }

    /// Returns the names of inputs that have elements, in any set, which are zero, infinite, or too
    /// small to be normal.
    #[must_use]
    pub fn inputs_with_special_numbers(&self) -> Vec<String> {
        let is_special = |name: &str| {
            self.input_sets.iter().any(|set| {
                let fill = set.fill.get(name);
                let fill = match fill {
                    Some(Distribution::View { of, .. }) => set.fill.get(of),
                    fill => fill,
                };
                fill.is_some_and(Distribution::has_special_numbers)
            })
        };
        let names = self.buffers.iter().map(|buffer| &buffer.name);
        names.filter(|name| is_special(name)).cloned().collect()
    }

    /// Returns a known kernel.
    ///
    /// # Errors
    /// [`CatalogError::Unknown`] with the names there are.
    pub fn kernel(&self, name: &str) -> Result<&str, CatalogError> {
        self.kernels
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| CatalogError::unknown("kernel", name, self.kernels.keys().cloned()))
    }

    /// Returns whether a buffer has elements of one of these types.
    pub(crate) fn has_any(&self, dtypes: &[DataType]) -> bool {
        self.buffers.iter().any(|it| dtypes.contains(&it.dtype))
    }

    /// Returns a buffer by name.
    #[must_use]
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }
}

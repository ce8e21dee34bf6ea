//! A problem: what must be computed, on which data, and known kernels for it.

use crate::distribution::Distribution;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use autocomp_core::{ContentHash, ContentHasher, Seed};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use toml::Spanned;

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataType {
    /// Signed 8-bit integer.
    Int8,
    /// Signed 32-bit integer.
    Int32,
    /// IEEE binary32.
    Float32,
}

impl DataType {
    /// Returns the size of one element in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Int32 | Self::Float32 => 4,
        }
    }
}

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
    pub fill: BTreeMap<String, Distribution>,
}

impl InputSet {
    /// Draws the content of `buffer`; none if the kernel does not read it.
    ///
    /// Each buffer has a random stream of its own, derived from `seed`, the
    /// name of the set and the name of the buffer.
    #[must_use]
    pub fn draw(&self, buffer: &Buffer, seed: Seed) -> Option<Vec<u8>> {
        let distribution = self.fill.get(&buffer.name)?;
        let stream = seed.derive(&self.name).derive(&buffer.name);
        Some(distribution.fill(buffer, stream))
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
#[derive(Clone, Debug)]
pub struct Problem {
    /// Name with its group (`gemmini/gemm-512x512x512`).
    pub name: String,
    /// Name of the target its kernels are written for.
    pub target: String,
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
    /// Which run ranks.
    pub ranking: Ranking,
    /// Preprocessor definitions for every build of a kernel or the reference.
    pub macros: BTreeMap<String, String>,
    /// Source of the reference: plain C with the same signature.
    pub reference: String,
    /// Known kernels, by the stem of their file (`baseline`, `expert`).
    pub kernels: BTreeMap<String, String>,
    /// Hash of everything above.
    pub content_hash: ContentHash,
    /// Hash of all but the kernels: what decides whether an answer is right.
    pub oracle_hash: ContentHash,
}

impl Problem {
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

    /// Returns a buffer by name.
    #[must_use]
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|buffer| buffer.name == name)
    }
}

/// `problem.toml` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFile {
    target: String,
    description: String,
    entry: Spanned<String>,
    signature: Spanned<String>,
    #[serde(default)]
    ranking: Ranking,
    tolerance: Tolerance,
    work: Work,
    #[serde(default)]
    macros: BTreeMap<String, String>,
    buffer: Vec<Spanned<Buffer>>,
    #[serde(default)]
    axis: Vec<AxisFile>,
    input_set: Vec<Spanned<InputSet>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisFile {
    name: String,
    of: Vec<Spanned<String>>,
}

/// Largest buffer, in bytes: what a simulated machine can be expected to hold.
const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// Makes a problem of its files, all templates already rendered.
///
/// # Errors
/// If a file is missing or says something impossible; the error names the place.
pub(crate) fn load(
    tree: &Tree,
    name: &str,
    texts: &BTreeMap<String, String>,
) -> Result<Problem, CatalogError> {
    let text = |file: &str, remedy: &str| {
        texts.get(file).ok_or_else(|| CatalogError::Missing {
            folder: tree.folder(),
            file: file.to_owned(),
            remedy: remedy.to_owned(),
        })
    };
    let path = tree.display("problem.toml");
    let source = Source {
        path: &path,
        text: text("problem.toml", "describe the problem in it")?,
    };
    let file: ProblemFile = source.parse()?;
    let reference = text(
        "reference.c",
        "add a plain C function with the kernel's signature: the oracle",
    )?
    .clone();
    check_signature(source, &file)?;
    check_buffers(source, &file.buffer)?;
    let buffers: Vec<Buffer> = file
        .buffer
        .iter()
        .map(|buffer| buffer.get_ref().clone())
        .collect();
    check_input_sets(source, &file.input_set, &buffers)?;
    let axes = axes(source, file.axis, &buffers)?;
    let kernels: BTreeMap<String, String> = texts
        .iter()
        .filter_map(|(path, text)| {
            let stem = path.strip_suffix(".c")?;
            (stem != "reference" && !stem.contains('/')).then(|| (stem.to_owned(), text.clone()))
        })
        .collect();

    let mut oracle = ContentHasher::new("problem-oracle");
    for part in [name, source.text, &reference] {
        oracle.update(part.as_bytes());
    }
    let oracle_hash = oracle.finish();
    let mut content = ContentHasher::new("problem");
    content.update(name.as_bytes());
    for (path, text) in texts {
        content.update(path.as_bytes());
        content.update(text.as_bytes());
    }
    Ok(Problem {
        name: name.to_owned(),
        target: file.target,
        description: file.description,
        entry: file.entry.into_inner(),
        signature: file.signature.into_inner().trim().to_owned(),
        buffers,
        input_sets: file
            .input_set
            .into_iter()
            .map(Spanned::into_inner)
            .collect(),
        tolerance: file.tolerance,
        axes,
        work: file.work,
        ranking: file.ranking,
        macros: file.macros,
        reference,
        kernels,
        content_hash: content.finish(),
        oracle_hash,
    })
}

fn check_signature(source: Source<'_>, file: &ProblemFile) -> Result<(), CatalogError> {
    let entry = file.entry.get_ref();
    let is_name = entry.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && entry.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(source.error(
            file.entry.span(),
            format!("`{entry}` is not the name of a C function"),
            "write the bare name, as in `entry = \"solution\"`",
        ));
    }
    let signature = file.signature.get_ref();
    if !signature.contains(&format!("{entry}(")) || !signature.trim_end().ends_with(')') {
        return Err(source.error(
            file.signature.span(),
            format!("the signature does not declare `{entry}`"),
            "write the declaration without a semicolon, as in `void solution(int8_t A[16][16])`",
        ));
    }
    Ok(())
}

fn check_buffers(source: Source<'_>, buffers: &[Spanned<Buffer>]) -> Result<(), CatalogError> {
    // The integer arguments of the calling convention.
    if buffers.is_empty() || 8 < buffers.len() {
        return Err(source.error(
            buffers.last().map_or(0..0, Spanned::span),
            format!("there are {} buffers", buffers.len()),
            "give between 1 and 8 `[[buffer]]` tables, one for each argument",
        ));
    }
    for (idx, spanned) in buffers.iter().enumerate() {
        let buffer = spanned.get_ref();
        let elements = buffer
            .shape
            .iter()
            .try_fold(1u64, |all, extent| all.checked_mul(*extent));
        let bytes = elements.and_then(|n| n.checked_mul(buffer.dtype.bytes() as u64));
        let wrong = if buffers[..idx]
            .iter()
            .any(|other| other.get_ref().name == buffer.name)
        {
            Some(format!("a second buffer is called `{}`", buffer.name))
        } else if buffer.shape.is_empty() || buffer.shape.contains(&0) {
            Some(format!("buffer `{}` has no elements", buffer.name))
        } else if bytes.is_none_or(|bytes| MAX_BUFFER_BYTES < bytes) {
            Some(format!(
                "buffer `{}` has more than {MAX_BUFFER_BYTES} bytes",
                buffer.name
            ))
        } else if !buffer.alignment.is_power_of_two() || 1 << 20 < buffer.alignment {
            Some(format!(
                "an alignment of {} bytes is not possible",
                buffer.alignment
            ))
        } else if let (Some(used), Some(elements)) = (buffer.used, elements)
            && elements < used
        {
            Some(format!(
                "buffer `{}` has {elements} elements, of which {used} cannot be used",
                buffer.name
            ))
        } else {
            None
        };
        if let Some(message) = wrong {
            return Err(source.error(
                spanned.span(),
                message,
                "buffers need names of their own, positive extents up to 1 GiB in all, a power of two as alignment, and no more elements `used` than there are",
            ));
        }
    }
    Ok(())
}

fn check_input_sets(
    source: Source<'_>,
    sets: &[Spanned<InputSet>],
    buffers: &[Buffer],
) -> Result<(), CatalogError> {
    if sets.is_empty() {
        return Err(source.error(
            0..0,
            "there is no input set",
            "add an `[[input_set]]` table",
        ));
    }
    for (idx, spanned) in sets.iter().enumerate() {
        let set = spanned.get_ref();
        let error =
            |message: String, remedy: String| Err(source.error(spanned.span(), message, remedy));
        if sets[..idx]
            .iter()
            .any(|other| other.get_ref().name == set.name)
        {
            return error(
                format!("a second input set is called `{}`", set.name),
                "give every set a name of its own".to_owned(),
            );
        }
        for buffer in buffers.iter().filter(|buffer| buffer.is_read()) {
            if !set.fill.contains_key(&buffer.name) {
                return error(
                    format!(
                        "input set `{}` does not fill buffer `{}`",
                        set.name, buffer.name
                    ),
                    format!(
                        "add `fill.{} = {{ kind = \"uniform\", low = -128, high = 127 }}`",
                        buffer.name
                    ),
                );
            }
        }
        for (name, distribution) in &set.fill {
            if !buffers
                .iter()
                .any(|buffer| &buffer.name == name && buffer.is_read())
            {
                return error(
                    format!(
                        "input set `{}` fills `{name}`, which is not a buffer that is read",
                        set.name
                    ),
                    "fill the buffers with role `input` or `inout`".to_owned(),
                );
            }
            let empty = match distribution {
                Distribution::Uniform { low, high } => high < low,
                // Neither bound may be NaN.
                Distribution::Real { low, high } => low.partial_cmp(high) != Some(Ordering::Less),
                Distribution::Choice { values } => values.is_empty(),
                Distribution::Sparse { values, one_in } => values.is_empty() || *one_in == 0,
                Distribution::Constant { .. } | Distribution::Identity {} => false,
            };
            if empty {
                return error(
                    format!("the distribution of `{name}` has no values"),
                    "give `low` not above `high`, at least one of `values`, and a positive `one_in`".to_owned(),
                );
            }
        }
    }
    Ok(())
}

fn axes(
    source: Source<'_>,
    files: Vec<AxisFile>,
    buffers: &[Buffer],
) -> Result<Vec<Axis>, CatalogError> {
    let mut axes = Vec::new();
    for file in files {
        let mut of = Vec::new();
        let mut extent = None;
        for position in &file.of {
            let text = position.get_ref();
            let found = text.split_once('.').and_then(|(name, dimension)| {
                let buffer = buffers.iter().position(|buffer| buffer.name == name)?;
                let dimension: usize = dimension.parse().ok()?;
                let here = *buffers[buffer].shape.get(dimension)?;
                Some((AxisPosition { buffer, dimension }, here))
            });
            let Some((found, here)) = found else {
                return Err(source.error(
                    position.span(),
                    format!("`{text}` is no dimension of a buffer"),
                    "write a buffer and the index of one of its dimensions, as in `A.0`",
                ));
            };
            if *extent.get_or_insert(here) != here {
                return Err(source.error(
                    position.span(),
                    format!(
                        "the axis `{}` has {here} indices here and another number elsewhere",
                        file.name
                    ),
                    "an axis joins dimensions of the same extent",
                ));
            }
            of.push(found);
        }
        axes.push(Axis {
            name: file.name,
            of,
        });
    }
    Ok(axes)
}

//! Problems from their files, and what is wrong with those.

use super::signature::contradiction;
use super::{Axis, AxisPosition, Buffer, InputSet, Problem, Ranking, Role, Tolerance, Work};
use crate::distribution::Distribution;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use autocomp_core::ContentHasher;
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use toml::Spanned;

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
    work: Spanned<Work>,
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

/// Most multiplications that a problem may ask for: the greatest count below which
/// every whole number is one of the double-precision numbers that bounds and shares
/// are computed in.
const MAX_MACS: u64 = 1 << 53;

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
    let (signature, entry) = (file.signature.get_ref(), file.entry.get_ref());
    if let Some(message) = contradiction(signature, entry, &buffers) {
        return Err(source.error(
            file.signature.span(),
            message,
            "give each `[[buffer]]` the name, type and extents of its parameter, in the same order",
        ));
    }
    check_work(source, &file.work, &buffers)?;
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
        work: file.work.into_inner(),
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
    if !buffers.iter().any(|buffer| buffer.get_ref().is_written()) {
        return Err(source.error(
            buffers.last().map_or(0..0, Spanned::span),
            "no buffer is written, so every kernel would be right",
            "give the results `role = \"output\"`, or \"inout\" if they are also read",
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

/// Checks that the least bytes are not more than all there are and that something is
/// to be moved: the figures bound what any kernel can reach.
fn check_work(
    source: Source<'_>,
    work: &Spanned<Work>,
    buffers: &[Buffer],
) -> Result<(), CatalogError> {
    let all: u64 = buffers
        .iter()
        .map(|buffer| match buffer.role {
            Role::Inout => 2 * buffer.least_bytes(),
            Role::Input | Role::Output => buffer.least_bytes(),
        })
        .sum();
    let &Work { macs, bytes } = work.get_ref();
    let (wrong, remedy) = if all < bytes {
        (
            format!("`work.bytes` is {bytes}, but all buffers together have {all}"),
            "give the least bytes that any kernel has to move: each input once, each output once",
        )
    } else if bytes == 0 {
        (
            "`work.bytes` is 0, but a kernel has to move at least its results".to_owned(),
            "give the least bytes that any kernel has to move: each input once, each output once",
        )
    } else if MAX_MACS < macs {
        (
            format!("`work.macs` is {macs}, more than the {MAX_MACS} that can be counted"),
            "give the multiply-accumulate steps that any kernel has to do, 0 if there are none",
        )
    } else {
        return Ok(());
    };
    Err(source.error(work.span(), wrong, remedy))
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

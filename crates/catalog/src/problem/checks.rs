//! What the tables of `problem.toml` have to be, each with its place and a remedy.

use super::calls::wrong_parameter;
use super::fills::wrong_fill;
use super::load::ProblemFile;
use super::{Buffer, InputSet, Role, Tolerance, Work};
use crate::error::CatalogError;
use crate::toml_text::Source;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// Largest buffer, in bytes: what a simulated machine can be expected to hold.
const MAX_BUFFER_BYTES: u64 = 1 << 30;

/// Most buffers: what callers of kernels have places for in their frames.
const MAX_BUFFERS: usize = 32;

/// Most arguments beside buffers, and most values in one.
const MAX_ARGUMENTS: usize = 64;

/// Most multiplications that a problem may ask for: the greatest count below which
/// every whole number is one of the double-precision numbers that bounds and shares
/// are computed in.
const MAX_MACS: u64 = 1 << 53;

/// Returns whether `text` can be the name of something in C.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(super) fn check_tolerance(
    source: Source<'_>,
    tolerance: &Spanned<Tolerance>,
) -> Result<(), CatalogError> {
    let Tolerance::Close { relative, absolute } = tolerance.get_ref() else {
        return Ok(());
    };
    for (name, value) in [("relative", *relative), ("absolute", *absolute)] {
        if !(value.is_finite() && 0.0 <= value) {
            return Err(source.error(
                tolerance.span(),
                format!("a tolerance of {value} (`{name}`) is not possible"),
                "give how far a result may be from the right one, as in `relative = 1e-5, absolute = 1e-6`",
            ));
        }
    }
    Ok(())
}

pub(super) fn check_macros(
    source: Source<'_>,
    macros: &BTreeMap<String, Spanned<String>>,
) -> Result<(), CatalogError> {
    for (name, value) in macros {
        if !is_name(name) || value.get_ref().contains(['\n', '\r']) {
            return Err(source.error(
                value.span(),
                format!("`{name}` is not the name of a macro, or has more than a line"),
                "write a C name and its text on one line, as in `N = \"64\"`",
            ));
        }
    }
    Ok(())
}

pub(super) fn check_arguments(
    source: Source<'_>,
    file: &ProblemFile,
    buffers: &[Buffer],
) -> Result<(), CatalogError> {
    let signature = (
        file.signature.get_ref().as_str(),
        file.entry.get_ref().as_str(),
    );
    let mut held = BTreeSet::new();
    for (name, value) in &file.arguments {
        let error =
            |message: String, remedy: &str| Err(source.error(value.span(), message, remedy));
        if !is_name(name) {
            return error(
                format!("`{name}` is not the name of a parameter"),
                "name the kernel's parameter that gets the value, as in `axis = 1`",
            );
        }
        if buffers.iter().any(|buffer| &buffer.name == name) {
            return error(
                format!("`{name}` is a buffer, too"),
                "give the argument the name of another parameter",
            );
        }
        let value = value.get_ref();
        if MAX_ARGUMENTS < file.arguments.len() || MAX_ARGUMENTS < value.values() {
            return error(
                format!("more than {MAX_ARGUMENTS} arguments, or values in `{name}`"),
                "give what differs from the kernel's defaults; larger data is a buffer",
            );
        }
        if !value.is_finite() {
            return error(
                format!("`{name}` is not a finite number"),
                "give a finite number",
            );
        }
        for buffer in value.buffers() {
            let is_read = buffers.iter().any(|it| it.name == buffer && it.is_read());
            if !is_read || !held.insert(buffer) {
                return error(
                    format!("`{name}` cannot hold the buffer `{buffer}`"),
                    "name a buffer that is read and that no other argument holds",
                );
            }
        }
        if let Some((message, remedy)) = wrong_parameter(signature, name, value) {
            return error(message, &remedy);
        }
    }
    Ok(())
}

pub(super) fn check_signature(source: Source<'_>, file: &ProblemFile) -> Result<(), CatalogError> {
    let entry = file.entry.get_ref();
    if !is_name(entry) {
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

pub(super) fn check_buffers(
    source: Source<'_>,
    buffers: &[Spanned<Buffer>],
) -> Result<(), CatalogError> {
    if buffers.is_empty() || MAX_BUFFERS < buffers.len() {
        return Err(source.error(
            buffers.last().map_or(0..0, Spanned::span),
            format!("there are {} buffers", buffers.len()),
            format!("give between 1 and {MAX_BUFFERS} `[[buffer]]` tables, one for each argument"),
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
        } else if !is_name(&buffer.name) {
            Some(format!("`{}` is not the name of a parameter", buffer.name))
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
pub(super) fn check_work(
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

pub(super) fn check_input_sets(
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
        if set.name.trim().is_empty() {
            return error(
                "an input set has no name".to_owned(),
                "give every set a name of its own".to_owned(),
            );
        }
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
                let mut remedy = format!(
                    "add `fill.{} = {{ kind = \"uniform\", low = -128, high = 127 }}`",
                    buffer.name
                );
                if buffer.role == Role::Inout {
                    remedy += ", or give it the role `output` if kernels only write it";
                }
                return error(
                    format!(
                        "input set `{}` does not fill buffer `{}`",
                        set.name, buffer.name
                    ),
                    remedy,
                );
            }
        }
        for (name, fill) in &set.fill {
            let buffer = buffers.iter().find(|it| it.name == *name && it.is_read());
            let Some(buffer) = buffer else {
                return error(
                    format!(
                        "input set `{}` fills `{name}`, which is not a buffer that is read",
                        set.name
                    ),
                    "fill the buffers with role `input` or `inout`".to_owned(),
                );
            };
            if let Some((message, remedy)) = wrong_fill(set, buffer, fill, buffers) {
                return error(message, remedy);
            }
        }
    }
    Ok(())
}

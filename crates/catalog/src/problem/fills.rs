//! How input sets fill buffers: what is wrong with it, and the numbers of tables.

use super::{Buffer, InputSet};
use crate::distribution::Distribution;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use std::collections::BTreeMap;

/// What a remedy of a distribution without values is.
const VALUES: &str = "give numbers, finite ones with `low` before `high`, at least one of `values`, and a positive `one_in`";

/// Characters of a word that messages show.
const LONGEST: usize = 40;

/// Reads the tables that `sets` fill buffers with from `texts`, and returns their names.
///
/// # Errors
/// If a table is not there, or is no table of as many numbers as its buffer has elements, each
/// of which its type has.
pub(super) fn read_tables<'s>(
    tree: &Tree,
    texts: &BTreeMap<String, String>,
    sets: impl IntoIterator<Item = &'s mut InputSet>,
    buffers: &[Buffer],
) -> Result<Vec<String>, CatalogError> {
    let mut names = Vec::new();
    for set in sets {
        for (name, fill) in &mut set.fill {
            let buffer = buffers.iter().find(|buffer| buffer.name == *name);
            if let (Distribution::Table { file, values }, Some(buffer)) = (fill, buffer) {
                let text = texts.get(file).ok_or_else(|| CatalogError::Missing {
                    folder: tree.folder(),
                    file: file.clone(),
                    remedy: format!(
                        "add the numbers of `{name}` as a text beside problem.toml, or correct the name of the file"
                    ),
                })?;
                let path = tree.display(file);
                let source = Source { path: &path, text };
                *values = table(source, buffer)?.into();
                names.push(file.clone());
            }
        }
    }
    Ok(names)
}

fn table(source: Source<'_>, buffer: &Buffer) -> Result<Vec<f64>, CatalogError> {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let dtype = buffer.dtype.name();
    let beginning = |word: &str| -> String { word.escape_debug().take(LONGEST).collect() };
    let mut cells = source.text.split([',', ';']);
    // Behind the last separator there may be nothing.
    cells.next_back();
    if let Some(empty) = cells.find(|cell| cell.trim().is_empty()) {
        let start = empty.as_ptr() as usize - source.text.as_ptr() as usize;
        return Err(source.error(
            start..start + empty.len(),
            "there is no number before this separator".to_owned(),
            "write one number for each element, row by row",
        ));
    }
    let mut numbers = Vec::new();
    for word in source.text.split(is_between).filter(|it| !it.is_empty()) {
        let start = word.as_ptr() as usize - source.text.as_ptr() as usize;
        let error = |message: String, remedy: &str| {
            Err(source.error(start..start + word.len(), message, remedy))
        };
        let number = match word.parse::<f64>() {
            Ok(number) if number.is_finite() => number,
            _ => {
                return error(
                    format!("`{}` is no finite number", beginning(word)),
                    "write numbers such as 3, -0.5 or 1e-3 with commas, spaces or line ends between them",
                );
            }
        };
        let mut rounded = Vec::new();
        buffer.dtype.push(number, &mut rounded);
        let is_held = match buffer.dtype.limits() {
            Some((least, most)) => least <= number && number <= most && number.fract() == 0.0,
            None => buffer.dtype.value(&rounded).is_finite(),
        };
        if !is_held {
            return error(
                format!(
                    "`{}` is no {dtype}, which buffer `{}` holds",
                    beginning(word),
                    buffer.name
                ),
                match buffer.dtype.limits() {
                    Some(_) => {
                        "give whole numbers within the range of the type, or the buffer another type"
                    }
                    None => "give numbers within the range of the type, or the buffer another type",
                },
            );
        }
        if numbers.len() == buffer.elements() {
            return error(
                format!(
                    "buffer `{}` has {} elements, and this is one number more",
                    buffer.name,
                    numbers.len()
                ),
                "give one number for each element, row by row",
            );
        }
        numbers.push(number);
    }
    if numbers.len() < buffer.elements() {
        return Err(source.error(
            source.text.len()..source.text.len(),
            format!(
                "buffer `{}` has {} elements, and there are {} numbers",
                buffer.name,
                buffer.elements(),
                numbers.len()
            ),
            "give one number for each element, row by row",
        ));
    }
    Ok(numbers)
}

/// Returns what is wrong with how a set fills `buffer`, and what to do about it.
pub(super) fn wrong_fill(
    set: &InputSet,
    buffer: &Buffer,
    fill: &Distribution,
    buffers: &[Buffer],
) -> Option<(String, String)> {
    let name = &buffer.name;
    if !fill.has_numbers() {
        return Some((
            format!("`{name}` is filled with NaN, or from a range that has no end"),
            VALUES.to_owned(),
        ));
    }
    let dtype = buffer.dtype;
    if fill.largest() == f64::INFINITY && !dtype.has_infinity() {
        return Some((
            format!(
                "`{name}` is filled with infinity, which {} does not have",
                dtype.name()
            ),
            "give finite numbers, or the buffer a type that has infinity, such as float32"
                .to_owned(),
        ));
    }
    match fill {
        Distribution::Triangle { inside, .. } => {
            if buffer.shape.len() < 2 {
                return Some((
                    format!("`{name}` cannot have a triangle"),
                    "give the buffer two dimensions or more".to_owned(),
                ));
            }
            let is_drawn = !matches!(
                **inside,
                Distribution::Triangle { .. }
                    | Distribution::Table { .. }
                    | Distribution::View { .. }
            );
            if !is_drawn || is_empty(inside) {
                return Some((
                    format!("the inside of the triangle of `{name}` has no values"),
                    format!("{VALUES}; the inside is drawn, and is no triangle, table or view"),
                ));
            }
            None
        }
        Distribution::View { of, axes } => wrong_view(set, buffer, (of, axes), buffers),
        other => is_empty(other).then(|| {
            (
                format!("the distribution of `{name}` has no values"),
                VALUES.to_owned(),
            )
        }),
    }
}

fn is_empty(distribution: &Distribution) -> bool {
    match distribution {
        Distribution::Uniform { low, high } => high < low,
        Distribution::Real { low, high } => high <= low || !(high - low).is_finite(),
        Distribution::Choice { values } => values.is_empty(),
        Distribution::Sparse { values, one_in } => values.is_empty() || *one_in == 0,
        Distribution::Constant { .. }
        | Distribution::Identity {}
        | Distribution::Triangle { .. }
        | Distribution::Table { .. }
        | Distribution::View { .. } => false,
    }
}

fn wrong_view(
    set: &InputSet,
    buffer: &Buffer,
    (of, axes): (&str, &[i64]),
    buffers: &[Buffer],
) -> Option<(String, String)> {
    let name = &buffer.name;
    let is_view = matches!(set.fill.get(of), Some(Distribution::View { .. }));
    let from = buffers.iter().find(|it| it.name == of && it.is_read());
    let Some(from) = from.filter(|it| it.dtype == buffer.dtype && !is_view) else {
        return Some((
            format!("`{name}` cannot be a view of `{of}`"),
            "name another buffer that is read, of the same type and no view itself".to_owned(),
        ));
    };
    let n_axes = axes.len();
    let extents = buffer.shape.iter().zip(axes);
    let fits = |(extent, axis): (&u64, &i64)| {
        let there = usize::try_from(*axis)
            .ok()
            .and_then(|it| from.shape.get(it));
        *axis == -1 || there == Some(extent)
    };
    let uses = |dimension: usize| axes.iter().filter(|it| **it == dimension as i64).count();
    let is_whole = (0..from.shape.len()).all(|it| uses(it) == 1);
    let is_right = n_axes == buffer.shape.len() && extents.into_iter().all(fits) && is_whole;
    (!is_right).then(|| {
        (
            format!(
                "the axes {axes:?} do not make `{name}` {:?} of `{of}` {:?}",
                buffer.shape, from.shape
            ),
            format!(
                "give for each dimension of `{name}` the one of `{of}` of the same extent that it runs along, each once, or -1 for repetitions"
            ),
        )
    })
}

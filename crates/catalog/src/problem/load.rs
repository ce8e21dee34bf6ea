//! Problems from their files, and what is wrong with those.

use super::checks::{
    check_arguments, check_buffers, check_input_sets, check_macros, check_signature,
    check_tolerance, check_work,
};
use super::fills::read_tables;
use super::signature::contradiction;
use super::{
    Argument, Axis, AxisPosition, Buffer, InputSet, Problem, Ranking, ReferenceLanguage, Tolerance,
    Work,
};
use crate::distribution::Distribution;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use autocomp_core::ContentHasher;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Endings of files beside a problem's kernels.
const NO_KERNELS: [&str; 5] = ["toml", "md", "h", "csv", "txt"];

/// `problem.toml` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProblemFile {
    #[serde(alias = "targets")]
    target: OneOrMore,
    description: String,
    pub(super) entry: Spanned<String>,
    pub(super) signature: Spanned<String>,
    #[serde(default)]
    ranking: Ranking,
    tolerance: Spanned<Tolerance>,
    work: Spanned<Work>,
    #[serde(default)]
    macros: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    pub(super) arguments: BTreeMap<String, Spanned<Argument>>,
    buffer: Vec<Spanned<Buffer>>,
    #[serde(default)]
    axis: Vec<AxisFile>,
    input_set: Vec<Spanned<InputSet>>,
}

/// One name, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisFile {
    name: String,
    of: Vec<Spanned<String>>,
}

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
    let mut file: ProblemFile = source.parse()?;
    let (reference_language, reference) = reference(tree, texts)?;
    check_signature(source, &file)?;
    check_buffers(source, &file.buffer)?;
    let buffers: Vec<Buffer> = file
        .buffer
        .iter()
        .map(|buffer| buffer.get_ref().clone())
        .collect();
    check_input_sets(source, &file.input_set, &buffers)?;
    let sets = file.input_set.iter_mut().map(Spanned::get_mut);
    let tables = read_tables(tree, texts, sets, &buffers)?;
    // A kernel may hold the answers of all sets that are drawn once.
    let sets = &mut file.input_set;
    if sets.iter().all(|set| !set.get_ref().fresh)
        && let Some(last) = sets.last_mut()
    {
        last.get_mut().fresh = true;
    }
    check_arguments(source, &file, &buffers)?;
    let axes = axes(source, file.axis, &buffers)?;
    check_views(source, &file.input_set, &buffers, &axes)?;
    let (signature, entry) = (file.signature.get_ref(), file.entry.get_ref());
    let names: Vec<&str> = file.arguments.keys().map(String::as_str).collect();
    if let Some(message) = contradiction((signature, entry), &buffers, &names) {
        return Err(source.error(
            file.signature.span(),
            message,
            "give each `[[buffer]]` the name, type and extents of its parameter, in the same order; other parameters get their values from `[arguments]`",
        ));
    }
    check_work(source, &file.work, &buffers)?;
    check_tolerance(source, &file.tolerance)?;
    check_macros(source, &file.macros)?;
    let harness = harness(tree, texts)?;
    let kernels = kernels(tree, texts)?;

    let mut oracle = ContentHasher::new("problem-oracle");
    for part in [name, source.text, reference] {
        oracle.update(part.as_bytes());
    }
    for table in &tables {
        oracle.update(table.as_bytes());
        oracle.update(texts[table].as_bytes());
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
        targets: match file.target {
            OneOrMore::One(name) => vec![name],
            OneOrMore::More(names) => names,
        },
        description: file.description,
        entry: file.entry.into_inner(),
        signature: file.signature.into_inner().trim().to_owned(),
        buffers,
        input_sets: file
            .input_set
            .into_iter()
            .map(Spanned::into_inner)
            .collect(),
        tolerance: file.tolerance.into_inner(),
        axes,
        work_place: source.place(file.work.span()),
        work: file.work.into_inner(),
        ranking: file.ranking,
        macros: file
            .macros
            .into_iter()
            .map(|(name, value)| (name, value.into_inner()))
            .collect(),
        arguments: file
            .arguments
            .into_iter()
            .map(|(name, value)| (name, value.into_inner()))
            .collect(),
        harness,
        reference: reference.clone(),
        reference_language,
        kernels,
        content_hash: content.finish(),
        oracle_hash,
    })
}

/// Returns the reference of a problem: of the two files that can hold it, there must be one.
fn reference<'t>(
    tree: &Tree,
    texts: &'t BTreeMap<String, String>,
) -> Result<(ReferenceLanguage, &'t String), CatalogError> {
    let [c, python] = [ReferenceLanguage::C, ReferenceLanguage::Python];
    match [c, python].map(|language| texts.get(language.file())) {
        [Some(text), None] => Ok((c, text)),
        [None, Some(text)] => Ok((python, text)),
        [None, None] => Err(CatalogError::Missing {
            folder: tree.folder(),
            file: format!("{} and no {}", c.file(), python.file()),
            remedy: "add the oracle: a plain C function with the kernel's signature, or in Python a function `reference` of the inputs that returns the outputs".into(),
        }),
        [Some(_), Some(text)] => {
            let path = tree.display(python.file());
            let source = Source { path: &path, text };
            Err(source.error(
                0..0,
                format!("{} is there, too", c.file()),
                "a problem has one definition: remove one of the two files, or give it another name",
            ))
        }
    }
}

/// Returns the kernels of a problem by the stems of their files.
fn kernels(
    tree: &Tree,
    texts: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CatalogError> {
    let mut kernels = BTreeMap::new();
    let mut paths: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in texts {
        let Some((stem, ending)) = path.rsplit_once('.') else {
            continue;
        };
        if stem == "reference" || stem.contains('/') || NO_KERNELS.contains(&ending) {
            continue;
        }
        if let Some(other) = paths.insert(stem, path) {
            let shown = tree.display(path);
            let source = Source { path: &shown, text };
            return Err(source.error(
                0..0,
                format!("{other} is the kernel `{stem}`, too"),
                "kernels are named by their files without the ending: give one of the two another name",
            ));
        }
        kernels.insert(stem.to_owned(), text.clone());
    }
    Ok(kernels)
}

/// Reads `harness.toml`, if there is one: names and what they stand for.
fn harness(
    tree: &Tree,
    texts: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CatalogError> {
    const FILE: &str = "harness.toml";
    let Some(text) = texts.get(FILE) else {
        return Ok(BTreeMap::new());
    };
    let path = tree.display(FILE);
    let source = Source { path: &path, text };
    let names = source.parse::<BTreeMap<String, Spanned<String>>>()?;
    check_macros(source, &names)?;
    let plain = names
        .into_iter()
        .map(|(name, value)| (name, value.into_inner()));
    Ok(plain.collect())
}

fn axes(
    source: Source<'_>,
    files: Vec<AxisFile>,
    buffers: &[Buffer],
) -> Result<Vec<Axis>, CatalogError> {
    let mut axes: Vec<Axis> = Vec::new();
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
            let is_taken = |axis: &Axis| axis.of.contains(&found);
            if of.contains(&found) || axes.iter().any(is_taken) {
                return Err(source.error(
                    position.span(),
                    format!("`{text}` is in an axis already"),
                    "an index runs over a dimension once: keep one of the two",
                ));
            }
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

/// Checks that indices which an axis permutes in a buffer are permuted in its views as well.
fn check_views(
    source: Source<'_>,
    sets: &[Spanned<InputSet>],
    buffers: &[Buffer],
    axes: &[Axis],
) -> Result<(), CatalogError> {
    let axis_of = |buffer: usize, dimension: usize| {
        let position = AxisPosition { buffer, dimension };
        axes.iter().find(|axis| axis.of.contains(&position))
    };
    for set in sets {
        for (name, fill) in &set.get_ref().fill {
            let Distribution::View { of, axes } = fill else {
                continue;
            };
            let place = |name: &str| buffers.iter().position(|buffer| buffer.name == name);
            let (Some(to), Some(from)) = (place(name), place(of)) else {
                continue;
            };
            for (dimension, along) in axes.iter().enumerate() {
                let Ok(along) = usize::try_from(*along) else {
                    continue;
                };
                let (one, other) = (axis_of(to, dimension), axis_of(from, along));
                if one == other {
                    continue;
                }
                let axis = one.or(other).map_or("", |axis| &axis.name);
                return Err(source.error(
                    set.span(),
                    format!("the axis `{axis}` permutes one of `{name}.{dimension}` and `{of}.{along}`, which are the same indices in input set `{}`", set.get_ref().name),
                    "let `of` of the axis name both, or leave the axis out",
                ));
            }
        }
    }
    Ok(())
}

//! A suite: problems and kernels to set side by side.

use crate::error::{CatalogError, nearest};
use crate::toml_text::Source;
use crate::tree::Tree;
use serde::Deserialize;
use toml::Spanned;

/// A list of problems with the kernels to compare on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Name (`small-products`): the stem of its file.
    pub name: String,
    /// What it shows, in a sentence.
    pub description: String,
    /// Problems, in the order of the table.
    pub problems: Vec<String>,
    /// Kernels, in the order of the columns; a problem may lack some.
    pub kernels: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    description: String,
    problems: Spanned<Vec<Spanned<String>>>,
    kernels: Spanned<Vec<Spanned<String>>>,
}

/// Reads the suite at `path`, whose problems must be some of `known`.
///
/// # Errors
/// If the file does not parse, lists nothing, or names what is unknown or twice there.
pub(crate) fn load<'k>(
    tree: &Tree,
    path: &str,
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Result<Suite, CatalogError> {
    let display = tree.display(path);
    let source = Source {
        path: &display,
        text: tree.text(path, "list problems and kernels in it")?,
    };
    let file: SuiteFile = source.parse()?;
    for (what, names) in [("problem", &file.problems), ("kernel", &file.kernels)] {
        let listed = names.get_ref();
        if listed.is_empty() {
            return Err(source.error(
                names.span(),
                format!("the suite has no {what}"),
                format!("name at least one {what}"),
            ));
        }
        for (idx, name) in listed.iter().enumerate() {
            if listed[..idx]
                .iter()
                .any(|it| it.get_ref() == name.get_ref())
            {
                return Err(source.error(
                    name.span(),
                    format!("the {what} `{}` is there twice", name.get_ref()),
                    "keep one of the two",
                ));
            }
        }
    }
    for problem in file.problems.get_ref() {
        let name = problem.get_ref();
        if !known.clone().any(|it| it == name) {
            return Err(source.error(
                problem.span(),
                format!("unknown problem `{name}`"),
                match nearest(name, known) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => {
                        "`autocomp problems` lists those there are; `--data FOLDER` adds your own"
                            .to_owned()
                    }
                },
            ));
        }
    }
    let names = |listed: Spanned<Vec<Spanned<String>>>| {
        let names = listed.into_inner().into_iter();
        names.map(Spanned::into_inner).collect()
    };
    Ok(Suite {
        name: name.to_owned(),
        description: file.description,
        problems: names(file.problems),
        kernels: names(file.kernels),
    })
}

//! A suite: problems and kernels to set side by side.

use crate::error::CatalogError;
use crate::toml_text;
use crate::tree::Tree;
use serde::Deserialize;

/// A list of problems with the kernels to compare on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Name (`gemmini-gemm`): the stem of its file.
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
    problems: Vec<String>,
    kernels: Vec<String>,
}

/// Reads the suite at `path`.
///
/// # Errors
/// If the file does not parse.
pub(crate) fn load(tree: &Tree, path: &str, name: &str) -> Result<Suite, CatalogError> {
    let file: SuiteFile = toml_text::parse_file(tree, path, "list problems and kernels in it")?;
    Ok(Suite {
        name: name.to_owned(),
        description: file.description,
        problems: file.problems,
        kernels: file.kernels,
    })
}

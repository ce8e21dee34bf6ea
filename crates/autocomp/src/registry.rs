//! The families of targets that this program can work for.

use crate::error::CliError;
use autocomp_catalog::Target;
use autocomp_core::Language;
use autocomp_eval::Family;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// Every family, from the start of the program on.
static FAMILIES: OnceLock<&'static [&'static dyn Family]> = OnceLock::new();

/// Makes `families` known; called once, before anything else.
pub fn register(families: &'static [&'static dyn Family]) {
    // A second call would name the same families.
    let _ = FAMILIES.set(families);
}

/// Returns every family.
pub fn families() -> impl Iterator<Item = &'static dyn Family> {
    FAMILIES.get().copied().unwrap_or_default().iter().copied()
}

/// Returns the family of a target.
pub fn family(target: &Target) -> Result<&'static dyn Family, CliError> {
    let found = families().find(|family| family.name() == target.family);
    found.ok_or_else(|| {
        CliError::input(format!(
            "target {} is of the family `{}`, which this program does not know",
            target.name, target.family
        ))
        .hint(known("families", families().map(Family::name)))
        .hint("set `family` in its target.toml to one of them, or build the program with the feature of that name")
    })
}

/// Returns the language of a target's kernels.
pub fn language(target: &Target) -> Result<&'static dyn Language, CliError> {
    let languages = family(target)?.languages();
    let found = languages.iter().find(|it| it.id() == target.language);
    found.copied().ok_or_else(|| {
        CliError::input(format!(
            "kernels of target {} are said to be written in `{}`, which the family `{}` cannot evaluate",
            target.name, target.language, target.family
        ))
        .hint(known("languages", languages.iter().map(|it| it.id())))
        .hint("set `language` in its target.toml to one of them")
    })
}

/// Refuses a kernel's file whose name says that it is of another language than `language`.
pub fn check_language(file: &str, language: &dyn Language) -> Result<(), CliError> {
    let ending = Path::new(file).extension().and_then(OsStr::to_str);
    let of_ending = |it: &&dyn Language| Some(it.extension()) == ending;
    let all = || families().flat_map(Family::languages).copied();
    match all().find(of_ending) {
        Some(other) if !of_ending(&language) => Err(CliError::input(format!(
            "{file} is {} by its name, and kernels of this problem are written in {}",
            other.name(),
            language.name()
        ))
        .hint(format!(
            "give a file that ends in `.{}`",
            language.extension()
        ))),
        _ => Ok(()),
    }
}

fn known<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => format!("there are no {what}: the program was built without any family"),
        names => format!("known {what}: {}", names.join(", ")),
    }
}

//! Families: one folder of templates for problems that differ in numbers only.

use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use toml::{Spanned, Table};

/// `family.toml` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    /// Template of the last part of a problem's name.
    name: Spanned<String>,
    /// Values for instances that do not give their own.
    #[serde(default)]
    defaults: Table,
    /// One table of numbers for each problem.
    instance: Vec<Spanned<Table>>,
}

/// One member of a family: the last part of its name and its numbers.
pub(crate) type Member = (String, Table);

/// Returns the members of the family in `tree`.
///
/// # Errors
/// If `family.toml` does not parse, or a name needs a number that an instance lacks.
pub(crate) fn members(tree: &Tree) -> Result<Vec<Member>, CatalogError> {
    let path = tree.display("family.toml");
    let source = Source {
        path: &path,
        text: tree.text("family.toml", "list the instances in it")?,
    };
    let file: FamilyFile = source.parse()?;
    if file.instance.is_empty() {
        return Err(source.error(
            0..0,
            "the family has no instance",
            "add an `[[instance]]` table with its numbers",
        ));
    }
    let environment = environment();
    let mut members: Vec<Member> = Vec::new();
    for spanned in &file.instance {
        let mut numbers = file.defaults.clone();
        numbers.extend(spanned.get_ref().clone());
        let name = environment
            .render_str(file.name.get_ref(), context(&numbers))
            .map_err(|error| {
                source.error(
                    spanned.span(),
                    format!("this instance cannot be named: {}", said(&error)),
                    format!(
                        "give every number that the name `{}` uses",
                        file.name.get_ref()
                    ),
                )
            })?;
        let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty()
            || !name.chars().all(legal)
            || members.iter().any(|(other, _)| *other == name)
        {
            return Err(source.error(
                spanned.span(),
                format!("the name `{name}` is taken, or has characters other than letters, digits, `-`, `_`, `.`"),
                "let the name tell instances apart",
            ));
        }
        members.push((name, numbers));
    }
    Ok(members)
}

/// Returns the texts of a folder that is no family, by path.
///
/// # Errors
/// If a file is not UTF-8.
pub(crate) fn plain(tree: &Tree) -> Result<BTreeMap<String, String>, CatalogError> {
    tree.iter()
        .filter(|(path, _)| is_text(path))
        .map(|(path, data)| Ok((path.to_owned(), tree.utf8(path, data)?.to_owned())))
        .collect()
}

/// The folder of a family, whose texts are templates for all of its members.
#[derive(Debug)]
pub(crate) struct Templates {
    tree: Tree,
    /// Most processes load no member, and some load all of them.
    parsed: OnceLock<Parsed>,
}

#[derive(Debug)]
struct Parsed {
    sources: BTreeMap<String, String>,
    environment: Environment<'static>,
}

impl Templates {
    /// Takes the folder of a family, of which nothing is read yet.
    pub(crate) fn new(tree: Tree) -> Self {
        Self {
            tree,
            parsed: OnceLock::new(),
        }
    }

    /// Returns the folder.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the texts of one member of the family, by path. A template that
    /// renders to nothing gives no text: that member has no such kernel.
    ///
    /// # Errors
    /// If a file is not UTF-8 or not a template, or uses a number that is not given.
    pub(crate) fn render(&self, numbers: &Table) -> Result<BTreeMap<String, String>, CatalogError> {
        let Parsed {
            sources,
            environment,
        } = match self.parsed.get() {
            Some(parsed) => parsed,
            None => {
                let parsed = parse(&self.tree)?;
                self.parsed.get_or_init(|| parsed)
            }
        };
        let context = context(numbers);
        let mut texts = BTreeMap::new();
        for path in sources.keys().filter(|path| !path.ends_with(".jinja")) {
            let text = environment
                .get_template(path)
                .and_then(|template| template.render(&context))
                .map_err(|error| template_error(&self.tree, sources, path, &error))?;
            if !text.trim().is_empty() {
                texts.insert(path.clone(), text);
            }
        }
        Ok(texts)
    }
}

fn parse(tree: &Tree) -> Result<Parsed, CatalogError> {
    let mut environment = environment();
    let sources = plain(tree)?;
    for (path, text) in &sources {
        environment
            .add_template_owned(path.clone(), text.clone())
            .map_err(|error| template_error(tree, &sources, path, &error))?;
    }
    Ok(Parsed {
        sources,
        environment,
    })
}

/// Whether a file of a problem folder is part of the problem. `.jinja` files
/// hold macros that the others import.
fn is_text(path: &str) -> bool {
    matches!(path, "problem.toml" | "harness.toml")
        || !path.contains('/') && !path.ends_with(".toml") && !path.ends_with(".md")
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .keep_trailing_newline(true)
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("the default delimiters are distinct");
    environment.set_syntax(syntax);
    environment
}

/// Turns the numbers of an instance into what templates see.
fn context(numbers: &Table) -> Value {
    Value::from_pairs(
        numbers
            .iter()
            .map(|(name, value)| (name.clone(), template_value(value))),
    )
}

fn template_value(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(truth) => Value::from(*truth),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(values) => values.iter().map(template_value).collect(),
        toml::Value::Table(table) => context(table),
    }
}

fn template_error(
    tree: &Tree,
    sources: &BTreeMap<String, String>,
    path: &str,
    error: &minijinja::Error,
) -> CatalogError {
    // The error may lie in a file that this one imports.
    let path = error
        .name()
        .filter(|name| sources.contains_key(*name))
        .unwrap_or(path);
    let display = tree.display(path);
    let text = sources.get(path).map_or("", String::as_str);
    let line = error.line().unwrap_or(1).max(1);
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    Source {
        path: &display,
        text,
    }
    .error(
        start + indent..start + line.trim_end().len(),
        said(error),
        "correct the template, or give the number it needs in family.toml",
    )
}

/// What is wrong, without the place.
fn said(error: &minijinja::Error) -> String {
    let kind = error.kind();
    match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind.to_string(),
    }
}

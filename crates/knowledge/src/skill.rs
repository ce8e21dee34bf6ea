//! Agent skills: a folder with `SKILL.md`, which says what it is for, and references that are
//! read when they are needed.

use crate::files::{read, read_if_there, write_all, yaml};
use crate::markdown::{
    example_of, example_text, links, menu_of, menu_text, rules_of, rules_text, slug,
};
use crate::{Knowledge, KnowledgeError};
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder a skill.
pub const FILE: &str = "SKILL.md";
/// Longest name, in characters.
const LONGEST_NAME: usize = 64;
/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1024;
/// References that are looked at at most.
const MOST_REFERENCES: usize = 500;

/// The field of a skill's metadata that names the family of the target.
const FAMILY: &str = "autocomp-family";

const ARCHITECTURE: &str = "references/architecture.md";
const ISA: &str = "references/isa.md";
const MENU: &str = "references/menu.md";
const RULES: &str = "references/rules.md";
const EXAMPLES: &str = "references/examples";

/// Writes knowledge as a skill into a folder, and returns its files.
///
/// # Errors
/// A file is there already, or cannot be written.
pub fn write_skill(knowledge: &Knowledge, folder: &Path) -> Result<Vec<PathBuf>, KnowledgeError> {
    let mut files = vec![
        (ARCHITECTURE.to_owned(), knowledge.architecture.clone()),
        (ISA.to_owned(), knowledge.isa.clone()),
        (MENU.to_owned(), menu_text(&knowledge.menu)),
        (RULES.to_owned(), rules_text(&knowledge.rules)),
    ];
    files.retain(|(_, text)| !text.is_empty());
    for example in &knowledge.examples {
        files.push((
            format!("{EXAMPLES}/{}.md", example.name),
            example_text(example),
        ));
    }
    let links = files
        .iter()
        .map(|(name, _)| format!("- [{name}]({name})\n"));
    let name = skill_name(knowledge, folder);
    let description = cut(
        &format!(
            "How kernels for {} are written and made faster: architecture, instructions, \
             optimizations to choose from, rules, worked examples. Use when a kernel for {} is \
             written, reviewed or optimized.",
            knowledge.description, knowledge.name
        ),
        LONGEST_DESCRIPTION,
    );
    let family = match knowledge.family.as_str() {
        "" => String::new(),
        family => format!("metadata:\n  {FAMILY}: {}\n", quoted(family)),
    };
    let text = format!(
        "---\nname: {name}\ndescription: {}\n{family}---\n\n# Kernels for {}\n\n\
         {}.\n\nRead the architecture before you write anything, the rules before you write code, \
         and of the instructions the sections that name what you use. Choose one optimization of \
         the menu at a time; an example shows what it looks like.\n\n{}",
        quoted(&description),
        knowledge.name,
        knowledge.description.trim_end_matches('.'),
        links.collect::<String>()
    );
    files.insert(0, (FILE.to_owned(), text));
    let files: Vec<_> = files
        .into_iter()
        .map(|(name, text)| (name, text.into_bytes()))
        .collect();
    write_all(folder, &files)
}

/// Returns what a skill is called: as its folder, which the standard asks for, if a skill can be
/// called so; else as its target.
fn skill_name(knowledge: &Knowledge, folder: &Path) -> String {
    let folder = folder.file_name().unwrap_or_default().to_string_lossy();
    match folder.len() <= LONGEST_NAME && !folder.is_empty() && slug(&folder, &[]) == folder {
        true => folder.into_owned(),
        false => slug(&knowledge.name, &[])
            .chars()
            .take(LONGEST_NAME)
            .collect(),
    }
}

/// Returns a text as a YAML scalar.
fn quoted(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns a text of at most `most` characters, ended at a word.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most - 1).collect();
    let words = cut.rsplit_once(' ').map_or(cut.as_str(), |it| it.0);
    format!("{words}…")
}

/// Reads a skill: one that was written by [`write_skill`] in full; of others the text, as what a
/// kernel writer must know.
///
/// # Errors
/// A file is unusable.
pub fn read_skill(folder: &Path) -> Result<Knowledge, KnowledgeError> {
    let path = folder.join(FILE);
    let text = read(&path)?;
    let head = text
        .strip_prefix("---\n")
        .and_then(|it| it.split_once("\n---"));
    let (head, body) = head.ok_or_else(|| {
        KnowledgeError::new(
            &path,
            "it does not begin with its name and description between lines of `---`",
        )
    })?;
    let head = yaml(&path, head)?;
    let field = |name: &str| head[name].as_str().unwrap_or_default().trim().to_owned();
    let (name, description) = (field("name"), field("description"));
    if name.is_empty() || LONGEST_NAME < name.chars().count() {
        return Err(KnowledgeError::new(
            &path,
            format!("its name must have 1 to {LONGEST_NAME} characters"),
        ));
    }
    if description.is_empty() || LONGEST_DESCRIPTION < description.chars().count() {
        return Err(KnowledgeError::new(
            &path,
            format!("its description must have 1 to {LONGEST_DESCRIPTION} characters"),
        ));
    }
    let family = head["metadata"][FAMILY].as_str().unwrap_or_default();
    let mut knowledge = Knowledge {
        name,
        family: family.to_owned(),
        description,
        ..Knowledge::default()
    };
    let part = |name: &str| read_if_there(&folder.join(name));
    let menu = part(MENU)?;
    knowledge.menu = menu.as_deref().map_or_else(Vec::new, menu_of);
    knowledge.isa = part(ISA)?.unwrap_or_default();
    let rules = part(RULES)?;
    knowledge.rules = rules.as_deref().map(rules_of).unwrap_or_default();
    let architecture = part(ARCHITECTURE)?;
    for (name, path) in markdown_files(&folder.join(EXAMPLES))? {
        match example_of(&name, &read(&path)?) {
            Some(example) => knowledge.examples.push(example),
            None => knowledge.unmapped.push(format!(
                "{EXAMPLES}/{name}.md: not an example in the form of ours"
            )),
        }
    }
    let known = [ARCHITECTURE, ISA, MENU, RULES];
    knowledge.architecture = match architecture {
        Some(text) => text,
        None => {
            let body = body.split_once('\n').map_or("", |it| it.1);
            body.trim().to_owned() + "\n"
        }
    };
    for (name, path) in markdown_files(&folder.join("references"))? {
        let shown = format!("references/{name}.md");
        if !known.contains(&shown.as_str()) {
            knowledge.architecture += &format!("\n# {name}\n\n{}\n", read(&path)?.trim());
            knowledge.unmapped.push(format!(
                "{shown}: taken as a part of what a kernel writer must know"
            ));
        }
    }
    for (part, is_empty) in [
        (MENU, knowledge.menu.is_empty()),
        (ISA, knowledge.isa.is_empty()),
        (RULES, rules.is_none()),
    ] {
        if is_empty {
            knowledge.unmapped.push(format!("there is no {part}"));
        }
    }
    for link in links(body) {
        let name = link.split(['#', '?']).next().unwrap_or_default();
        let is_own = !name.is_empty() && !name.contains(':');
        if is_own && !folder.join(name).exists() {
            let missing = format!("{name}: {FILE} leads there, but it is not there");
            knowledge.unmapped.push(missing);
        }
    }
    let mut others = Vec::new();
    unread_files(folder, "", &mut others);
    others.sort();
    knowledge.unmapped.extend(others);
    Ok(knowledge)
}

/// Adds a line for each file below a folder that is no part of a skill as it is read.
fn unread_files(folder: &Path, below: &str, out: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = entry.file_name().to_string_lossy().into_owned();
        let name = format!("{below}{own}");
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        let is_read = match below {
            "" => own == FILE || is_folder && own == "references",
            "references/" => own.ends_with(".md") || is_folder && own == "examples",
            _ => own.ends_with(".md"),
        };
        match (is_folder, is_read) {
            _ if MOST_REFERENCES < out.len() => return,
            (true, true) => unread_files(&entry.path(), &format!("{name}/"), out),
            (true, false) => out.push(format!("{name}/: not read")),
            (false, true) => {}
            (false, false) => out.push(format!("{name}: not read")),
        }
    }
}

/// Returns the Markdown files of a folder by name, without the ending.
fn markdown_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, KnowledgeError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(".md") {
            found.push((name.to_owned(), entry.path()));
        }
        if MOST_REFERENCES < found.len() {
            return Err(KnowledgeError::new(
                folder,
                format!("it has more than {MOST_REFERENCES} files"),
            ));
        }
    }
    found.sort();
    Ok(found)
}

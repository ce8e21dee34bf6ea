//! Leaves out definitions that nothing uses any more.

use crate::kernel::Kernel;
use crate::print::print;
use crate::syntax::{children, syntax_tree};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A definition in the text: its name, where it stands with the comments
/// above it, and the words in it.
struct Definition {
    name: String,
    range: Range<usize>,
    words: BTreeSet<String>,
}

/// Removes functions, macros and constants that neither the body nor anything
/// else that stays names.
pub(crate) fn without_leftovers(kernel: &mut Kernel, entry: &str) {
    let body = print(&Kernel {
        prefix: String::new(),
        suffix: String::new(),
        ..kernel.clone()
    });
    // Definitions are found in the text with an empty body.
    let text = format!("{}{}", kernel.prefix, kernel.suffix);
    let Some(tree) = syntax_tree(&text) else {
        return;
    };
    let found = definitions(tree.root_node(), &text, entry);
    let mut used = words(&body);
    let mut outside = String::new();
    let mut position = 0;
    for definition in &found {
        outside.push_str(&text[position..definition.range.start]);
        position = definition.range.end;
    }
    outside.push_str(&text[position..]);
    used.extend(words(&outside));
    loop {
        let before = used.len();
        for definition in &found {
            if used.contains(&definition.name) {
                used.extend(definition.words.iter().cloned());
            }
        }
        if used.len() == before {
            break;
        }
    }
    let split = kernel.prefix.len();
    let (mut prefix, mut suffix) = (String::new(), String::new());
    let mut position = 0;
    for definition in &found {
        if used.contains(&definition.name) {
            continue;
        }
        copy(
            &text,
            position..definition.range.start,
            split,
            &mut prefix,
            &mut suffix,
        );
        position = definition.range.end;
    }
    copy(&text, position..text.len(), split, &mut prefix, &mut suffix);
    kernel.prefix = prefix;
    kernel.suffix = suffix;
}

/// Appends a part of `text` to what lies before and after `split`.
fn copy(text: &str, range: Range<usize>, split: usize, before: &mut String, after: &mut String) {
    let middle = split.clamp(range.start, range.end);
    before.push_str(&text[range.start..middle]);
    after.push_str(&text[middle..range.end]);
}

fn definitions(root: Node<'_>, text: &str, entry: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    // Where the comments begin that belong to the next definition.
    let mut comments: Option<(usize, usize)> = None;
    let mut first = true;
    for node in children(root) {
        let line = |offset: usize| text[..offset].matches('\n').count();
        if node.kind() == "comment" {
            let above = comments.filter(|(_, end)| line(node.start_byte()) <= line(*end) + 1);
            let start = above.map_or(node.start_byte(), |(start, _)| start);
            comments = Some((start, node.end_byte()));
            continue;
        }
        let above = comments
            .take()
            .filter(|(_, end)| line(node.start_byte()) <= line(*end) + 1);
        // The comment that opens the file describes the file.
        let above = above.filter(|_| !first);
        first = false;
        if node.has_error() {
            continue;
        }
        let Some(name) = defined_name(node, text) else {
            continue;
        };
        if name == entry {
            continue;
        }
        let start = above.map_or(node.start_byte(), |(start, _)| start);
        let mut end = node.end_byte();
        // With the end of its line, and a blank line below.
        for _ in 0..2 {
            let rest = &text[end..];
            if text[..end].ends_with('\n') && !rest.starts_with('\n') {
                break;
            }
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            if rest[blank..].starts_with('\n') {
                end += blank + 1;
            }
        }
        found.push(Definition {
            name,
            range: start..end,
            words: words(&text[node.byte_range()]),
        });
    }
    found
}

/// Returns the name that a definition gives, if it can be left out.
fn defined_name(node: Node<'_>, text: &str) -> Option<String> {
    let name = match node.kind() {
        "preproc_def" | "preproc_function_def" => node.child_by_field_name("name")?,
        "function_definition" => {
            let mut declarator = node.child_by_field_name("declarator")?;
            while declarator.kind() != "identifier" {
                declarator = declarator.child_by_field_name("declarator")?;
            }
            declarator
        }
        "declaration" => {
            let mut cursor = node.walk();
            let mut declarators = node.children_by_field_name("declarator", &mut cursor);
            let mut declarator = declarators.next()?;
            if declarators.next().is_some() {
                return None;
            }
            while declarator.kind() != "identifier" {
                declarator = declarator.child_by_field_name("declarator")?;
            }
            declarator
        }
        _ => return None,
    };
    Some(text[name.byte_range()].to_owned())
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .filter(|word| word.starts_with(|letter: char| !letter.is_ascii_digit()))
        .map(str::to_owned)
        .collect()
}

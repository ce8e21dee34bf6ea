//! What the compiler may be told about a kernel whose loops are not read: that buffers do
//! not overlap, that sums may be added up in any order, what to do with innermost loops.
//!
//! The text is changed where the hints belong, and stays as it was otherwise. Buffers of a
//! problem never overlap; whether another order of sums is close enough, the evaluation says.
//! Spellings are those of Clang's manual (`#pragma clang fp`, `#pragma clang loop`).

use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Tree};

/// Hints that are added together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// Buffers do not overlap.
    restrict: bool,
    /// Sums may be added up in any order.
    reassociate: bool,
    /// Innermost loops work on so many vectors at once; 0 says nothing.
    interleave: u32,
    /// Innermost loops are written out so many times; 0 says nothing.
    unroll: u32,
}

/// What is worth a try, the most promising first.
pub const TRIED: [Hints; 6] = [
    hints(true, true, 0, 0),
    hints(true, true, 4, 0),
    hints(true, false, 0, 0),
    hints(true, true, 0, 4),
    hints(true, true, 2, 0),
    hints(true, true, 8, 0),
];

const fn hints(restrict: bool, reassociate: bool, interleave: u32, unroll: u32) -> Hints {
    Hints {
        restrict,
        reassociate,
        interleave,
        unroll,
    }
}

impl Hints {
    /// Returns the hints that change a kernel, each in another way, and what they make of it.
    pub fn of(source: &str) -> Vec<(Self, String)> {
        let mut found: Vec<(Self, String)> = Vec::new();
        let Some(tree) = sound_tree(source) else {
            return found;
        };
        for hints in TRIED {
            if let Some(text) = hints.added_to(tree.root_node(), source)
                && found.iter().all(|(_, other)| *other != text)
            {
                found.push((hints, text));
            }
        }
        found
    }

    /// Adds the hints that are not there yet; absent if that changes nothing.
    pub fn added(self, source: &str) -> Option<String> {
        self.added_to(sound_tree(source)?.root_node(), source)
    }

    fn added_to(self, root: Node<'_>, source: &str) -> Option<String> {
        let floats = ["float", "double", "_Float16"];
        let has_floats = floats.iter().any(|it| source.contains(it));
        let mut insertions: Vec<(usize, String)> = Vec::new();
        let functions = children(root).into_iter();
        for function in functions.filter(|node| node.kind() == "function_definition") {
            let head = function.child_by_field_name("declarator")?;
            let body = function.child_by_field_name("body")?;
            let storage = children(function).into_iter();
            let mut storage = storage.filter(|it| it.kind() == "storage_class_specifier");
            // Functions of the kernel's own may be called with what overlaps.
            if self.restrict && storage.all(|it| &source[it.byte_range()] != "static") {
                let parameters = head.child_by_field_name("parameters")?;
                let places = children(parameters).into_iter();
                insertions.extend(places.filter_map(|it| restricted(it, source)));
            }
            let text = &source[body.byte_range()];
            if self.reassociate && has_floats && !text.contains("#pragma clang fp") {
                // A directive has a line of its own.
                let rest = text[1..].lines().next().unwrap_or("");
                let end = if rest.trim().is_empty() { "" } else { "\n" };
                insertions.push((
                    body.start_byte() + 1,
                    format!("\n#pragma clang fp reassociate(on){end}"),
                ));
            }
            if 0 < self.interleave.max(self.unroll) && !text.contains("#pragma clang loop") {
                let mut places = Vec::new();
                innermost_loops(body, &mut places);
                let loops = places.into_iter();
                insertions.extend(loops.map(|it| (it, self.before_loops(source, it))));
            }
        }
        if insertions.is_empty() {
            return None;
        }
        insertions.sort();
        let mut text = source.to_owned();
        for (place, inserted) in insertions.iter().rev() {
            text.insert_str(*place, inserted);
        }
        Some(text)
    }

    /// Returns the lines before a loop that begins at `place`, up to its own indentation.
    fn before_loops(self, source: &str, place: usize) -> String {
        let line = source[..place].rfind('\n').map_or(0, |end| end + 1);
        let before = &source[line..place];
        let is_alone = before.trim().is_empty();
        let indentation = if is_alone { before } else { "" };
        let asked = match (self.interleave, self.unroll) {
            (0, unroll) => format!("unroll_count({unroll})"),
            (interleave, _) => format!("vectorize(enable) interleave_count({interleave})"),
        };
        let begin = if is_alone { "" } else { "\n" };
        format!("{begin}#pragma clang loop {asked}\n{indentation}")
    }

    /// Item of the menu that names the hints best.
    pub fn menu_item(self) -> &'static str {
        if self.unroll != 0 {
            "unroll"
        } else {
            "vectorize"
        }
    }

    /// Returns whether loops are to become vectors.
    pub fn asks_for_vectors(self) -> bool {
        self.interleave != 0
    }

    /// Says what the compiler is told of a kernel, or of its plain form.
    pub fn text(self, is_plain: bool) -> String {
        let mut told = Vec::new();
        if self.restrict {
            told.push("that buffers do not overlap (`restrict`)".to_owned());
        }
        if self.reassociate {
            told.push("that sums may be added up in any order".to_owned());
        }
        if self.interleave != 0 {
            told.push(format!(
                "to work on {} vectors at once in innermost loops",
                self.interleave
            ));
        }
        if self.unroll != 0 {
            told.push(format!(
                "to write innermost loops out {} times",
                self.unroll
            ));
        }
        let told = told.join(", ");
        match is_plain {
            true => format!(
                "Write loops over elements in place of vectors, and tell the compiler {told}."
            ),
            false => format!("Tell the compiler {told}."),
        }
    }
}

/// Returns the tree of a source that parses and is not too deep.
fn sound_tree(source: &str) -> Option<Tree> {
    syntax_tree(source).filter(|it| !it.root_node().has_error() && !too_deep(it.root_node()))
}

/// Returns where a parameter that is a buffer is told not to overlap others, and how.
fn restricted(parameter: Node<'_>, source: &str) -> Option<(usize, String)> {
    if source[parameter.byte_range()].contains("restrict") {
        return None;
    }
    let mut node = parameter.child_by_field_name("declarator")?;
    loop {
        let inner = match node.kind() {
            "parenthesized_declarator" => children(node).into_iter().next()?,
            _ => node.child_by_field_name("declarator")?,
        };
        match (node.kind(), inner.kind()) {
            ("array_declarator", "identifier") => {
                let bracket = source[inner.end_byte()..].find('[')?;
                return Some((inner.end_byte() + bracket + 1, "restrict ".to_owned()));
            }
            ("pointer_declarator", "identifier") => {
                return Some((inner.start_byte(), "restrict ".to_owned()));
            }
            ("function_declarator", _) => return None,
            _ => node = inner,
        }
    }
}

/// Gathers where loops at or below `node` begin that hold no other. Returns whether there is a
/// loop.
fn innermost_loops(node: Node<'_>, found: &mut Vec<usize>) -> bool {
    let mut holds = false;
    for child in children(node) {
        holds |= innermost_loops(child, found);
    }
    let is_loop = matches!(
        node.kind(),
        "for_statement" | "while_statement" | "do_statement"
    );
    // Of the others the compiler does not know how often they run.
    if node.kind() == "for_statement" && !holds {
        found.push(node.start_byte());
    }
    is_loop || holds
}

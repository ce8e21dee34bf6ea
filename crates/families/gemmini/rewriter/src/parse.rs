//! Reads a C kernel into the intermediate form.
//!
//! Macros are expanded; then the kernel is run with symbols for loop
//! variables, so that addresses become sums of their multiples however they
//! are spelt: through variables, pointers, functions or tables. What is not
//! understood stays verbatim and is noted with the reason.

mod calls;
mod conditions;
mod declarations;
mod error;
mod loops;
mod parameters;
mod pointers;
mod ranges;
pub(crate) mod scope;
mod statements;
mod values;

use crate::kernel::{Array, Kernel, Statement};
use crate::normalise::{Vocabulary, expand, without_leftovers};
use crate::syntax::{children, entry, jumps, syntax_tree, too_deep};
use autocomp_core::NotUnderstood;
pub use error::ParseError;
use error::SOURCE_LIMIT;
use parameters::around;
use scope::{Binding, Entry, Obstacle, Quantity, Range, Read};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// The most nodes of the syntax tree that are visited, again and again included.
const STEP_LIMIT: usize = 1 << 21;
/// How often reading starts again since one more variable must stay.
const RESTART_LIMIT: usize = 48;
/// The extent of an array of which only the address is known.
const UNKNOWN_EXTENT: i64 = 1 << 30;

/// Reads a kernel.
///
/// # Errors
/// A [`ParseError`] if the text is not C or has no entry function.
pub fn parse_with(source: &str, vocabulary: &Vocabulary) -> Result<Kernel, ParseError> {
    if SOURCE_LIMIT < source.len() {
        return Err(ParseError::TooLong);
    }
    let expanded = expand(source).map_err(|(line, reason)| ParseError::Directive(line, reason))?;
    let tree = syntax_tree(&expanded.text).ok_or(ParseError::Syntax)?;
    let root = tree.root_node();
    if too_deep(root) {
        return Err(ParseError::Syntax);
    }
    let no_entry = || ParseError::NoEntry(vocabulary.entry.clone());
    let function = entry(root, &expanded.text, &vocabulary.entry).ok_or_else(no_entry)?;
    let body = function.child_by_field_name("body").ok_or_else(no_entry)?;
    if function.has_error() || body.end_byte() <= body.start_byte() + 1 {
        return Err(ParseError::Syntax);
    }
    let mut kept = BTreeMap::new();
    for _ in 0..RESTART_LIMIT {
        let mut reader = Reader::new(&expanded.text, vocabulary, body, kept.clone());
        match reader.kernel(root, function) {
            Ok((statements, declarators)) => {
                let (prefix, suffix) =
                    around(source, &expanded, body, &declarators).ok_or(ParseError::Syntax)?;
                let mut kernel = Kernel {
                    prefix,
                    suffix,
                    arrays: reader.arrays,
                    body: statements,
                    unread: reader.unread,
                };
                without_leftovers(&mut kernel, &vocabulary.entry);
                return Ok(kernel);
            }
            Err(Obstacle::Keep(key, reason)) if !kept.contains_key(&key) => {
                kept.insert(key, reason);
            }
            Err(_) => return Err(ParseError::Endless),
        }
    }
    Err(ParseError::Endless)
}

/// Reads statements and expressions under what is known of the names in scope.
pub(crate) struct Reader<'tree> {
    source: &'tree str,
    vocabulary: &'tree Vocabulary,
    /// Functions of the file by name.
    functions: BTreeMap<&'tree str, Node<'tree>>,
    /// Names of types that the file defines, with what they stand for.
    types: BTreeMap<&'tree str, &'tree str>,
    globals: BTreeMap<String, Quantity>,
    pub(crate) arrays: Vec<Array>,
    /// Bytes of an element of each array.
    bytes: Vec<i64>,
    /// Variables that must stay, by where they are declared, and why.
    kept: BTreeMap<usize, String>,
    /// Names in scope, innermost last.
    scope: Vec<Entry>,
    /// Names before this belong to callers.
    floor: usize,
    /// Loops around, innermost last.
    ranges: Vec<Range>,
    /// The body of the function that is being read.
    function: Node<'tree>,
    /// Variables whose address is taken, by the body of the function that does so. Loops are
    /// run, and so ask for the same again in every iteration.
    taken: BTreeMap<usize, BTreeSet<&'tree str>>,
    /// Assignments by what is assigned to, likewise.
    assigned: BTreeMap<usize, BTreeMap<&'tree str, Vec<Node<'tree>>>>,
    /// Which statements jump, counting iterations or not, likewise.
    jumping: BTreeMap<(usize, bool), bool>,
    /// How many calls deep.
    depth: usize,
    /// Whether only the effect on variables is wanted.
    trial: bool,
    /// Commands of functions that were called for their value.
    emitted: Vec<Statement>,
    unread: Vec<NotUnderstood>,
    symbols: usize,
    steps: usize,
}

impl<'tree> Reader<'tree> {
    fn new(
        source: &'tree str,
        vocabulary: &'tree Vocabulary,
        function: Node<'tree>,
        kept: BTreeMap<usize, String>,
    ) -> Self {
        Self {
            source,
            vocabulary,
            functions: BTreeMap::new(),
            types: BTreeMap::new(),
            globals: BTreeMap::new(),
            taken: BTreeMap::new(),
            assigned: BTreeMap::new(),
            jumping: BTreeMap::new(),
            arrays: Vec::new(),
            bytes: Vec::new(),
            kept,
            scope: Vec::new(),
            floor: 0,
            ranges: Vec::new(),
            function,
            depth: 0,
            trial: false,
            emitted: Vec::new(),
            unread: Vec::new(),
            symbols: 0,
            steps: 0,
        }
    }

    /// Reads the entry function; returns its body, and where parameters are
    /// declared that need other declarators.
    #[allow(clippy::type_complexity, reason = "ranges with their text")]
    fn kernel(
        &mut self,
        root: Node<'tree>,
        function: Node<'tree>,
    ) -> Read<(Vec<Statement>, Vec<(std::ops::Range<usize>, String)>)> {
        self.globals(root)?;
        let declarators = self.parameters(function);
        let mut statements = Vec::new();
        let body = self.function;
        match self.run(&children(body), &mut statements) {
            Ok(_) => {}
            Err(Obstacle::Unread(offset, reason)) => {
                // The whole body hangs together in a way that is not understood.
                let parameters = self.arrays.len();
                self.scope.truncate(parameters);
                self.unread.clear();
                statements.clear();
                for child in children(body) {
                    let text = self.verbatim(child)?;
                    statements.push(Statement::Opaque(text));
                }
                self.note(offset, reason);
            }
            Err(other) => return Err(other),
        }
        Ok((statements, declarators))
    }

    fn globals(&mut self, root: Node<'tree>) -> Read<()> {
        let mut pending: Vec<Node<'tree>> = children(root);
        pending.reverse();
        while let Some(node) = pending.pop() {
            match node.kind() {
                "linkage_specification" | "declaration_list" => {
                    pending.extend(children(node).into_iter().rev());
                }
                "function_definition" if !node.has_error() => {
                    let mut declarator = node.child_by_field_name("declarator");
                    while let Some(inner) = declarator {
                        if inner.kind() == "identifier" {
                            self.functions.insert(self.text(inner), node);
                        }
                        declarator = inner.child_by_field_name("declarator");
                    }
                }
                "type_definition" => {
                    let kind = node.child_by_field_name("type");
                    let name = node.child_by_field_name("declarator");
                    if let (Some(kind), Some(name)) = (kind, name)
                        && name.kind() == "type_identifier"
                    {
                        self.types.insert(self.text(name), self.text(kind));
                    }
                }
                "enum_specifier" => self.optional(|reader| reader.enumeration(node))?,
                "declaration" if !node.has_error() => {
                    if let Some(kind) = node.child_by_field_name("type")
                        && kind.kind() == "enum_specifier"
                    {
                        self.optional(|reader| reader.enumeration(kind))?;
                    }
                    let words = self.text(node).split_whitespace();
                    if !words.clone().any(|word| word == "const") {
                        continue;
                    }
                    let mut ignored = Vec::new();
                    self.optional(|reader| reader.declaration(node, &mut ignored))?;
                    for entry in std::mem::take(&mut self.scope) {
                        if let (Binding::Known(quantity), None) = (entry.binding, entry.orbit) {
                            self.globals.insert(entry.name, quantity);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns whether a statement jumps, see [`jumps`].
    fn jumps(&mut self, node: Node<'tree>, iterations: bool) -> bool {
        let known = self.jumping.entry((node.id(), iterations));
        *known.or_insert_with(|| jumps(node, iterations))
    }

    /// Reads something that may as well not be understood.
    fn optional(&mut self, read: impl FnOnce(&mut Self) -> Read<()>) -> Read<()> {
        match read(self) {
            Err(Obstacle::Endless) => Err(Obstacle::Endless),
            _ => Ok(()),
        }
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'tree str {
        &self.source[node.byte_range()]
    }

    /// Returns the beginning of the text of `node`, for messages.
    pub(crate) fn short(&self, node: Node<'_>) -> String {
        let words: Vec<&str> = self.text(node).split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    pub(crate) fn operator(&self, node: Node<'_>) -> &'tree str {
        node.child_by_field_name("operator")
            .map_or("", |operator| self.text(operator))
    }

    pub(crate) fn field(&self, node: Node<'tree>, name: &str) -> Read<Node<'tree>> {
        match node.child_by_field_name(name) {
            Some(child) => Ok(child),
            None => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let visible = self.scope.get(self.floor..)?;
        visible.iter().rev().find(|entry| entry.name == name)
    }

    fn tick(&mut self) -> Read<()> {
        self.steps += 1;
        match self.steps < STEP_LIMIT {
            true => Ok(()),
            false => Err(Obstacle::Endless),
        }
    }

    pub(crate) fn vocabulary(&self) -> &'tree Vocabulary {
        self.vocabulary
    }

    /// Notes an address that is not understood, unless only variables matter.
    pub(crate) fn doubt(&mut self, offset: usize, reason: String) {
        if !self.trial {
            self.note(offset, reason);
        }
    }

    /// Notes what is not understood.
    fn note(&mut self, offset: usize, reason: String) {
        let line = self.source[..offset].matches('\n').count() + 1;
        let unread = NotUnderstood { line, reason };
        if !self.unread.contains(&unread) {
            self.unread.push(unread);
        }
    }

    /// Returns the text of `node` with the values of variables that lost
    /// their declaration written out.
    pub(crate) fn verbatim(&mut self, node: Node<'tree>) -> Read<String> {
        let assigned = crate::syntax::assigned_names(node, self.source);
        let mut own = BTreeSet::new();
        let mut pending = vec![node];
        while let Some(inner) = pending.pop() {
            if matches!(inner.kind(), "declaration" | "parameter_declaration") {
                let mut cursor = inner.walk();
                for declarator in inner.children_by_field_name("declarator", &mut cursor) {
                    let mut name = declarator;
                    while name.kind() != "identifier" {
                        let next = name.child_by_field_name("declarator");
                        match next.or_else(|| name.named_child(0)) {
                            Some(next) => name = next,
                            None => break,
                        }
                    }
                    own.insert(self.text(name));
                }
            }
            pending.extend(children(inner));
        }
        let mut replacements = Vec::new();
        let mut pending = vec![node];
        while let Some(inner) = pending.pop() {
            pending.extend(children(inner));
            let name = self.text(inner);
            if inner.kind() != "identifier" || own.contains(name) {
                continue;
            }
            let Some(entry) = self.entry(name) else {
                continue;
            };
            let keep = |reason: &str| {
                let key = entry.key;
                Err(Obstacle::Keep(key, reason.to_owned()))
            };
            let changes = assigned.contains(name);
            match &entry.binding {
                Binding::Kept(_) => {}
                Binding::Unknown(reason) => return keep(reason),
                Binding::Known(Quantity::Pointer(pointer))
                    if pointer.to_c(&self.arrays) == name => {}
                Binding::Known(_) if changes => {
                    return keep("it changes in a way that is not understood");
                }
                Binding::Known(Quantity::Table(..)) => return keep("it is a table"),
                Binding::Known(Quantity::Text(text)) => {
                    replacements.push((inner.byte_range(), text.clone()));
                }
                Binding::Known(Quantity::Pointer(pointer)) => {
                    replacements.push((inner.byte_range(), pointer.to_c(&self.arrays)));
                }
                Binding::Known(Quantity::Integer(value)) => {
                    let value = match &entry.orbit {
                        Some(orbit) => orbit.value(value),
                        None => Some(value.clone()),
                    };
                    match value {
                        Some(value) if value.to_c_operand() == name => {}
                        Some(value) if !value.to_c_operand().contains('#') => {
                            replacements.push((inner.byte_range(), value.to_c_operand()));
                        }
                        _ => return keep("its value is not known"),
                    }
                }
            }
        }
        replacements.sort_by_key(|(range, _)| range.start);
        let mut text = String::new();
        let mut position = node.start_byte();
        for (range, value) in replacements {
            text.push_str(&self.source[position..range.start]);
            text.push_str(&value);
            position = range.end;
        }
        text.push_str(&self.source[position..node.end_byte()]);
        Ok(text)
    }
}

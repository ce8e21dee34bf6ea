//! The file of a kernel: its functions, and what the host function asks for.
//!
//! Words of CUDA become words of C of the same length, so that a parser of C reads the text and
//! every place in it stays where it was.

mod host;
mod launchers;
mod namespaces;
mod rows;
mod templates;
mod words_of_c;

use crate::expression::{Expression, folded};
use crate::kinds::{bytes_of, is_whole, without_names_of_types};
use autocomp_c_loops::casts::without_false_casts;
use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use autocomp_nests::{Refusal, expanded};
use launchers::without_launchers;
use namespaces::without_namespaces;
use rows::without_rows;
use std::collections::{BTreeMap, BTreeSet};
use templates::without_templates;
use tree_sitter::{Node, Tree};
use words_of_c::in_words_of_c;

/// The longest source that is read, in bytes.
const SOURCE_LIMIT: usize = 1 << 16;

/// A file as it was parsed.
pub(crate) struct File {
    /// The text without macros and comments.
    pub plain: String,
    /// The same in words of C.
    pub text: String,
    pub tree: Tree,
    /// What it says of namespaces of others.
    pub namespaces: Vec<String>,
}

/// A statement of the host function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostStep {
    /// Kept as it is.
    Text(String),
    /// A launch.
    Launch(Launch),
}

/// A launch, with everything known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// Line of the host function, from 1.
    pub line: usize,
    pub kernel: String,
    pub grid: [i64; 3],
    pub block: [i64; 3],
    /// Bytes of shared memory whose size is given here.
    pub shared_bytes: i64,
    pub arguments: Vec<Argument>,
    /// As it was written.
    pub text: String,
}

/// What a kernel is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// An array of the host function, by its name there, and the type of its elements.
    Array(String, String),
    /// A whole number.
    Number(i64),
    /// A number of floats, as it is written.
    Text(String),
    /// A number that the host function is given, by its name there.
    Scalar(String),
}

/// The host function.
pub(crate) struct Host {
    /// `void solution(…)`.
    pub head: String,
    pub steps: Vec<HostStep>,
    /// The arrays that it is given, in their order.
    pub arrays: Vec<String>,
    /// Scratch arrays.
    pub scratch: BTreeSet<String>,
}

pub(crate) fn refused<T>(node: Node<'_>, text: &str, why: &str) -> Result<T, Refusal> {
    let first = text[node.byte_range()].lines().next().unwrap_or("");
    let shown: String = first.chars().take(60).collect();
    Err(Refusal {
        line: Some(1 + node.start_position().row),
        why: format!("{why}: {shown}"),
    })
}

impl File {
    /// Parses a source whose host function is `entry`.
    pub(crate) fn parse(source: &str, entry: &str) -> Result<Self, Refusal> {
        if SOURCE_LIMIT < source.len() {
            return Err("the kernel is too long".into());
        }
        let (plain, namespaces) = without_namespaces(&expanded(source)?);
        let plain = without_templates(&without_names_of_types(&plain));
        let plain = without_rows(&without_launchers(&plain, entry), entry);
        let text = without_false_casts(&in_words_of_c(&plain));
        let tree = syntax_tree(&text).ok_or("the kernel does not parse")?;
        let root = tree.root_node();
        if too_deep(root) {
            return Err("the kernel is nested too deep".into());
        }
        if let Some(at) = error_in(root) {
            return Err(Refusal {
                line: Some(1 + at),
                why: "is not read: only what C has too, launches and the words of CUDA are; write templates, lambdas, references and casts by name other than `static_cast` as plain functions".into(),
            });
        }
        Ok(Self {
            plain,
            text,
            tree,
            namespaces,
        })
    }

    pub(crate) fn of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    /// Returns all functions by name, in their order.
    pub(crate) fn functions(&self) -> Vec<(String, Node<'_>)> {
        let nodes = children(self.tree.root_node());
        let functions = nodes
            .into_iter()
            .filter(|it| it.kind() == "function_definition");
        functions
            .filter_map(|it| Some((self.of(name_of(it)?).to_owned(), it)))
            .collect()
    }

    /// Returns whether a word such as `__global__` stands before a function.
    pub(crate) fn is_marked(&self, function: Node<'_>, word: &str) -> bool {
        let body = function.child_by_field_name("body");
        let head = &self.plain
            [function.start_byte()..body.map_or(function.end_byte(), |it| it.start_byte())];
        head.contains(word)
    }

    /// Returns whole numbers with names of the file.
    pub(crate) fn constants(&self) -> BTreeMap<String, i64> {
        let mut found = BTreeMap::new();
        for node in children(self.tree.root_node()) {
            if node.kind() == "declaration" && self.of(node).contains("const") {
                self.numbers_of(node, &mut found);
            }
        }
        found
    }

    /// Reads what a declaration makes known as whole numbers; tells whether that is all of it.
    fn numbers_of(&self, node: Node<'_>, known: &mut BTreeMap<String, i64>) -> bool {
        let kind = node
            .child_by_field_name("type")
            .map_or("", |it| self.of(it));
        let is_whole = is_whole(kind);
        let mut all = is_whole;
        for declared in children(node) {
            if declared.kind() != "init_declarator" {
                all &= !declared.kind().ends_with("declarator") && declared.kind() != "identifier";
                continue;
            }
            let name = declared.child_by_field_name("declarator");
            let value = declared.child_by_field_name("value");
            let value = value.and_then(|it| self.number(it, known));
            match (is_whole, name, value) {
                (true, Some(name), Some(value)) if name.kind() == "identifier" => {
                    known.insert(self.of(name).to_owned(), value);
                }
                _ => all = false,
            }
        }
        all
    }

    /// Returns a whole number that is known.
    fn number(&self, node: Node<'_>, known: &BTreeMap<String, i64>) -> Option<i64> {
        match node.kind() {
            "number_literal" => number(self.of(node)),
            // `block.x`, too.
            "identifier" | "field_expression" => known.get(self.of(node)).copied(),
            "parenthesized_expression" => self.number(node.named_child(0)?, known),
            "sizeof_expression" => {
                let kind = node.child_by_field_name("type").or(node.named_child(0))?;
                bytes_of(self.of(kind).trim_matches(['(', ')', ' ']))
            }
            "binary_expression" => {
                let left = self.number(node.child_by_field_name("left")?, known)?;
                let right = self.number(node.child_by_field_name("right")?, known)?;
                let operator = self.of(node.child_by_field_name("operator")?);
                let made = folded(
                    Expression::constant(left),
                    operator,
                    Expression::constant(right),
                );
                made.as_index()?.as_constant()
            }
            "call_expression" => self.returned(node, known),
            _ => None,
        }
    }

    /// Returns the whole number that a call of a function with one expression returns.
    fn returned(&self, call: Node<'_>, known: &BTreeMap<String, i64>) -> Option<i64> {
        let name = self.of(call.child_by_field_name("function")?);
        let functions = self.functions();
        let (place, (_, function)) = (functions.iter().enumerate()).find(|it| it.1.0 == name)?;
        let body = children(function.child_by_field_name("body")?);
        let [result] = body.as_slice() else {
            return None;
        };
        // A function that calls only earlier ones does not call itself.
        let is_later = functions[place..].iter().any(|it| {
            let called = format!("{}(", it.0);
            self.of(*result).replace(' ', "").contains(&called)
        });
        let parameters = self.parameters(*function).ok()?;
        let arguments = children(call.child_by_field_name("arguments")?);
        if result.kind() != "return_statement" || is_later || parameters.len() != arguments.len() {
            return None;
        }
        let mut own = self.constants();
        for ((name, kind, _), argument) in parameters.into_iter().zip(arguments) {
            own.insert(
                name,
                self.number(argument, known).filter(|_| is_whole(&kind))?,
            );
        }
        self.number(result.named_child(0)?, &own)
    }

    /// Returns a number of floats that is made of literals alone, as it is written.
    fn literal(&self, node: Node<'_>, words: &BTreeMap<String, String>) -> Option<String> {
        let text = self.of(node);
        match node.kind() {
            "number_literal" => Some(text.to_owned()),
            "identifier" => words.get(text).cloned(),
            "parenthesized_expression" | "unary_expression" | "binary_expression" => {
                let parts = children(node);
                let are_literal = parts
                    .iter()
                    .all(|it| self.literal(*it, &BTreeMap::new()).is_some());
                are_literal.then(|| format!("({text})"))
            }
            _ => None,
        }
    }

    /// Reads what a declaration makes known as numbers of floats.
    fn literals_of(&self, node: Node<'_>, words: &mut BTreeMap<String, String>) {
        let kind = node
            .child_by_field_name("type")
            .map_or("", |it| self.of(it));
        if !["float", "double"].contains(&kind) {
            return;
        }
        for declared in children(node) {
            let name = declared.child_by_field_name("declarator");
            let value = declared.child_by_field_name("value");
            let value = value.and_then(|it| self.literal(it, words));
            if let (Some(name), Some(value)) = (name, value) {
                words.insert(self.of(name).to_owned(), format!("({kind}){value}"));
            }
        }
    }

    /// Returns the sizes of a grid or a block.
    fn sizes(
        &self,
        node: Node<'_>,
        numbers: &BTreeMap<String, i64>,
        known: &BTreeMap<String, [i64; 3]>,
    ) -> Option<[i64; 3]> {
        if let Some(sizes) = known.get(self.of(node)) {
            return Some(*sizes);
        }
        if node.kind() == "call_expression" {
            let function = node.child_by_field_name("function")?;
            if self.of(function) == "dim3" || self.plain[function.byte_range()] == *"dim3" {
                return self.listed(node.child_by_field_name("arguments")?, numbers);
            }
        }
        Some([self.number(node, numbers)?, 1, 1])
    }

    fn listed(&self, arguments: Node<'_>, numbers: &BTreeMap<String, i64>) -> Option<[i64; 3]> {
        let mut sizes = [1; 3];
        for (at, value) in children(arguments).into_iter().enumerate() {
            *sizes.get_mut(at)? = self.number(value, numbers)?;
        }
        Some(sizes)
    }

    /// Returns the parameters of a function: names, types of the elements, whether it is an array.
    pub(crate) fn parameters(
        &self,
        function: Node<'_>,
    ) -> Result<Vec<(String, String, bool)>, Refusal> {
        let declarator = function.child_by_field_name("declarator");
        let list = declarator.and_then(|it| it.child_by_field_name("parameters"));
        let mut found = Vec::new();
        for node in list.map(children).unwrap_or_default() {
            let kind = node
                .child_by_field_name("type")
                .map_or("", |it| self.of(it));
            let Some(declared) = node.child_by_field_name("declarator") else {
                return refused(node, &self.plain, "is not understood");
            };
            let (name, is_pointer) = match declared.kind() {
                "identifier" => (declared, false),
                "pointer_declarator" | "array_declarator" => {
                    match declared.child_by_field_name("declarator") {
                        Some(inner) if inner.kind() == "identifier" => (inner, true),
                        _ => return refused(node, &self.plain, "is no array and no number"),
                    }
                }
                _ => return refused(node, &self.plain, "is no array and no number"),
            };
            found.push((self.of(name).to_owned(), kind.to_owned(), is_pointer));
        }
        Ok(found)
    }
}

/// Returns the name of a function.
fn name_of(function: Node<'_>) -> Option<Node<'_>> {
    let declarator = function.child_by_field_name("declarator")?;
    declarator
        .child_by_field_name("declarator")
        .filter(|it| it.kind() == "identifier")
}

/// Returns the number that is written.
pub(crate) fn number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the row of the first thing that did not parse.
fn error_in(node: Node<'_>) -> Option<usize> {
    if node.is_error() || node.is_missing() {
        return Some(node.start_position().row);
    }
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .filter(|it| it.has_error())
        .find_map(error_in)
}

//! The file of a kernel: its functions, and what the host function asks for.
//!
//! Words of CUDA become words of C of the same length, so that a parser of C reads the text and
//! every place in it stays where it was.

mod templates;
mod words_of_c;

use crate::expression::{Expression, folded};
use crate::kinds::{bytes_of, is_whole, without_names_of_types};
use autocomp_c_loops::casts::without_false_casts;
use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use autocomp_nests::{Refusal, expanded};
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
    /// Parses a source.
    pub(crate) fn parse(source: &str) -> Result<Self, Refusal> {
        if SOURCE_LIMIT < source.len() {
            return Err("the kernel is too long".into());
        }
        let plain = without_templates(&without_names_of_types(&expanded(source)?));
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
        Ok(Self { plain, text, tree })
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

    /// Returns whether a function runs as a kernel.
    pub(crate) fn is_kernel(&self, function: Node<'_>) -> bool {
        let body = function.child_by_field_name("body");
        let head = &self.plain
            [function.start_byte()..body.map_or(function.end_byte(), |it| it.start_byte())];
        head.contains("__global__")
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
            _ => None,
        }
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
            let arguments = node.child_by_field_name("arguments")?;
            if self.of(function) != "dim3" && self.plain[function.byte_range()] != *"dim3" {
                return None;
            }
            return self.listed(arguments, numbers);
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

    /// Reads the host function `entry`.
    pub(crate) fn host(&self, entry: &str) -> Result<Host, Refusal> {
        let functions = self.functions();
        let (_, function) = functions
            .iter()
            .find(|(name, _)| name == entry)
            .ok_or_else(|| Refusal {
                line: None,
                why: format!("there is no function `{entry}`"),
            })?;
        let body = function
            .child_by_field_name("body")
            .ok_or("the function has no body")?;
        let mut arrays = BTreeMap::new();
        let mut numbers = self.constants();
        let (mut given, mut scalars) = (Vec::new(), BTreeSet::new());
        let mut words = BTreeMap::new();
        for (name, kind, is_pointer) in self.parameters(*function)? {
            if !is_pointer && !["float", "double"].contains(&kind.as_str()) {
                return refused(
                    *function,
                    &self.plain,
                    "takes a whole number, whose value the file does not say: write it as a constant",
                );
            }
            match is_pointer {
                true => {
                    given.push(name.clone());
                    arrays.insert(name, kind);
                }
                false => {
                    scalars.insert(name);
                }
            }
        }
        let mut host = Host {
            head: self.plain[function.start_byte()..body.start_byte()]
                .trim()
                .to_owned(),
            steps: Vec::new(),
            arrays: given,
            scratch: BTreeSet::new(),
        };
        let mut sizes: BTreeMap<String, [i64; 3]> = BTreeMap::new();
        for node in children(body) {
            let kept = HostStep::Text(self.plain[node.byte_range()].to_owned());
            match node.kind() {
                "comment" => continue,
                "declaration" if self.numbers_of(node, &mut numbers) => {}
                "declaration" if self.plain[node.byte_range()].starts_with("dim3") => {
                    for declared in children(node) {
                        let name = declared.child_by_field_name("declarator");
                        let value = declared.child_by_field_name("value");
                        let value = value.and_then(|it| self.sizes(it, &numbers, &sizes));
                        if let (Some(name), Some(value)) = (name, value) {
                            name_sizes(self.of(name), value, &mut numbers);
                            sizes.insert(self.of(name).to_owned(), value);
                        }
                    }
                }
                "declaration" => {
                    self.literals_of(node, &mut words);
                    let kind = node
                        .child_by_field_name("type")
                        .map_or("", |it| self.of(it));
                    for declared in children(node) {
                        if declared.kind() == "pointer_declarator" {
                            let name = self.of(declared).trim_start_matches('*').trim().to_owned();
                            host.scratch.insert(name.clone());
                            arrays.insert(name, kind.to_owned());
                        }
                    }
                }
                "expression_statement" => {
                    let Some(call) = node
                        .named_child(0)
                        .filter(|it| it.kind() == "call_expression")
                    else {
                        return refused(
                            node,
                            &self.plain,
                            "is not understood in the host function",
                        );
                    };
                    let function = call.child_by_field_name("function").unwrap_or(call);
                    let arguments = call.child_by_field_name("arguments").unwrap_or(call);
                    if function.kind() == "call_expression" {
                        let known = Known {
                            arrays: &arrays,
                            scalars: &scalars,
                            words: &words,
                        };
                        let launch =
                            self.launch(node, function, arguments, (&numbers, &sizes), &known)?;
                        host.steps.push(HostStep::Launch(launch));
                        continue;
                    }
                    let name = self.of(function);
                    // `dim3 grid(4, 4);`, whose first word became blank.
                    if self.plain[..node.start_byte()].trim_end().ends_with("dim3") {
                        let Some(found) = self.listed(arguments, &numbers) else {
                            return refused(node, &self.plain, "has sizes that are no numbers");
                        };
                        name_sizes(name, found, &mut numbers);
                        sizes.insert(name.to_owned(), found);
                        let text = format!("dim3 {}", &self.plain[node.byte_range()]);
                        host.steps.push(HostStep::Text(text));
                        continue;
                    }
                    const KEPT: &[&str] = &[
                        "cudaMalloc",
                        "cudaMemset",
                        "cudaMemsetAsync",
                        "cudaMemcpyAsync",
                        "cudaFuncSetAttribute",
                    ];
                    if !KEPT.contains(&name) {
                        return refused(
                            node,
                            &self.plain,
                            "is not understood in the host function",
                        );
                    }
                }
                _ => {
                    return refused(
                        node,
                        &self.plain,
                        "is not understood in the host function: write launches one after the other",
                    );
                }
            }
            host.steps.push(kept);
        }
        Ok(host)
    }

    fn launch(
        &self,
        statement: Node<'_>,
        head: Node<'_>,
        arguments: Node<'_>,
        (numbers, sizes): (&BTreeMap<String, i64>, &BTreeMap<String, [i64; 3]>),
        known: &Known<'_>,
    ) -> Result<Launch, Refusal> {
        let kernel = head
            .child_by_field_name("function")
            .map_or("", |it| self.of(it));
        let shape = head
            .child_by_field_name("arguments")
            .map(children)
            .unwrap_or_default();
        let (grid, block, shared_bytes) = match shape.as_slice() {
            [grid, block] => (grid, block, Some(0)),
            [grid, block, bytes] => (grid, block, self.number(*bytes, numbers)),
            _ => return refused(statement, &self.plain, "launches on a stream"),
        };
        let Some(shared_bytes) = shared_bytes else {
            return refused(
                statement,
                &self.plain,
                "launches with shared memory of a size that is not known",
            );
        };
        let of = |it: Node<'_>| self.sizes(it, numbers, sizes);
        let (Some(grid), Some(block)) = (of(*grid), of(*block)) else {
            return refused(
                statement,
                &self.plain,
                "launches a number of threads that is not known",
            );
        };
        if grid.iter().chain(&block).any(|it| *it < 1) {
            return refused(statement, &self.plain, "launches nothing");
        }
        let mut given = Vec::new();
        for node in children(arguments) {
            let node = self.uncast(node, known).unwrap_or(node);
            let name = self.of(node);
            let array = known.arrays.get(name);
            given.push(if let Some(kind) = array {
                Argument::Array(name.to_owned(), kind.clone())
            } else if let Some(number) = self.number(node, numbers) {
                Argument::Number(number)
            } else if known.scalars.contains(name) {
                Argument::Scalar(name.to_owned())
            } else if let Some(text) = self.literal(node, known.words) {
                Argument::Text(text)
            } else {
                return refused(
                    node,
                    &self.plain,
                    "is given to a kernel and is neither an array nor a number that is written",
                );
            });
        }
        Ok(Launch {
            line: 1 + statement.start_position().row,
            kernel: kernel.to_owned(),
            grid,
            block,
            shared_bytes,
            arguments: given,
            text: self.plain[statement.byte_range()].to_owned(),
        })
    }

    /// Returns the array that a cast leaves an array of the same type, `(float*)x`.
    fn uncast<'t>(&self, node: Node<'t>, known: &Known<'_>) -> Option<Node<'t>> {
        let value = node.child_by_field_name("value")?;
        let kind = self.of(node.child_by_field_name("type")?);
        let kind = kind.replace("const", "").replace(['*', ' '], "");
        let is_same = known.arrays.get(self.of(value))?.replace(' ', "") == kind;
        (node.kind() == "cast_expression" && is_same).then_some(value)
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

/// What the host function can give to kernels, beside whole numbers.
struct Known<'h> {
    /// Types of elements of arrays.
    arrays: &'h BTreeMap<String, String>,
    /// Numbers that it is given.
    scalars: &'h BTreeSet<String>,
    /// Numbers of floats that it names, as they are written.
    words: &'h BTreeMap<String, String>,
}

/// Makes the sizes of a grid or a block known as whole numbers (`block.x`).
fn name_sizes(name: &str, sizes: [i64; 3], numbers: &mut BTreeMap<String, i64>) {
    for (axis, size) in ["x", "y", "z"].into_iter().zip(sizes) {
        numbers.insert(format!("{name}.{axis}"), size);
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

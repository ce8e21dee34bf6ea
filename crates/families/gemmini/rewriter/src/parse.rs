//! Reads a C kernel into the intermediate form.
//!
//! Constants (object-like macros, `const` and never-assigned variables) are
//! substituted; what is not understood stays verbatim.

mod values;

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{Array, Guard, Kernel, Loop, Statement};
use crate::syntax::{ENTRY, assigned_names, children, entry, syntax_tree, too_deep};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// The largest source that is read, in bytes.
const SOURCE_LIMIT: usize = 1 << 20;

/// Why a source could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It is longer than a mebibyte.
    #[error("kernel is longer than {SOURCE_LIMIT} bytes")]
    TooLong,
    /// It is not C, or nests too deeply.
    #[error("kernel does not parse as C")]
    Syntax,
    /// There is no function `solution`.
    #[error("kernel has no function `{ENTRY}`")]
    NoEntry,
}

impl From<ParseError> for autocomp_core::RewriteError {
    fn from(error: ParseError) -> Self {
        Self::NotUnderstood(error.to_string())
    }
}

/// Reads a kernel.
///
/// # Errors
/// A [`ParseError`] if the text is not C or has no entry function.
pub fn parse(source: &str) -> Result<Kernel, ParseError> {
    if SOURCE_LIMIT < source.len() {
        return Err(ParseError::TooLong);
    }
    let tree = syntax_tree(source).ok_or(ParseError::Syntax)?;
    let root = tree.root_node();
    let mut reader = Reader::new(source);
    reader.read_globals(root);
    let function = entry(root, source).ok_or(ParseError::NoEntry)?;
    let body = function
        .child_by_field_name("body")
        .ok_or(ParseError::NoEntry)?;
    if function.has_error() || too_deep(body) || body.end_byte() <= body.start_byte() + 1 {
        return Err(ParseError::Syntax);
    }
    reader.arrays = parameters(function, &reader);
    reader.assigned = assigned_names(body, source);
    let mut statements = Vec::new();
    reader.read_block(body, &mut statements);
    Ok(Kernel {
        prefix: source[..=body.start_byte()].to_owned(),
        suffix: source[body.end_byte() - 1..].to_owned(),
        arrays: reader.arrays,
        body: statements,
    })
}

fn parameters(function: Node<'_>, reader: &Reader<'_>) -> Vec<Array> {
    let list = function
        .child_by_field_name("declarator")
        .and_then(|declarator| declarator.child_by_field_name("parameters"));
    let mut arrays = Vec::new();
    for parameter in list.map(children).unwrap_or_default() {
        let mut extents = Vec::new();
        let mut known = true;
        let mut declarator = parameter.child_by_field_name("declarator");
        while let Some(node) = declarator {
            match node.kind() {
                "array_declarator" => {
                    let extent = node
                        .child_by_field_name("size")
                        .and_then(|size| reader.value(size))
                        .and_then(|value| value.as_constant());
                    known &= extent.is_some();
                    extents.push(extent.unwrap_or(0));
                }
                "identifier" => {
                    extents.reverse();
                    if !known {
                        extents.clear();
                    }
                    arrays.push(Array {
                        name: reader.text(node).to_owned(),
                        extents,
                    });
                    break;
                }
                _ => break,
            }
            declarator = node.child_by_field_name("declarator");
        }
    }
    arrays
}

/// Reads statements and expressions under the known constants.
pub(crate) struct Reader<'source> {
    source: &'source str,
    pub(crate) arrays: Vec<Array>,
    assigned: BTreeSet<String>,
    globals: BTreeMap<String, Value>,
    /// Names in scope, innermost last; `None` for those with unknown values.
    scope: Vec<(String, Option<Value>)>,
}

impl<'source> Reader<'source> {
    fn new(source: &'source str) -> Self {
        let truths = [("true", 1), ("false", 0)]
            .map(|(name, value)| (name.to_owned(), Value::constant(value)));
        Self {
            source,
            arrays: Vec::new(),
            assigned: BTreeSet::new(),
            globals: BTreeMap::from(truths),
            scope: Vec::new(),
        }
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'source str {
        &self.source[node.byte_range()]
    }

    fn read_globals(&mut self, root: Node<'_>) {
        for node in children(root) {
            match node.kind() {
                "preproc_def" => {
                    let name = node.child_by_field_name("name").map(|name| self.text(name));
                    let body = node
                        .child_by_field_name("value")
                        .map(|value| self.text(value));
                    if let (Some(name), Some(body)) = (name, body)
                        && let Some(value) = self.value_of_text(body)
                    {
                        self.globals.insert(name.to_owned(), value);
                    }
                }
                "declaration" if self.text(node).contains("const") && !too_deep(node) => {
                    for (name, value) in self.declared(node).unwrap_or_default() {
                        if let Some(value) = value {
                            self.globals.insert(name, value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the value of an expression that stands in a text of its own.
    fn value_of_text(&self, text: &str) -> Option<Value> {
        let source = format!("int value = {text};");
        let tree = syntax_tree(&source)?;
        let root = tree.root_node();
        if root.has_error() || too_deep(root) {
            return None;
        }
        let reader = Reader {
            source: &source,
            arrays: Vec::new(),
            assigned: BTreeSet::new(),
            globals: self.globals.clone(),
            scope: Vec::new(),
        };
        let declarator = root.named_child(0)?.child_by_field_name("declarator")?;
        reader.value(declarator.child_by_field_name("value")?)
    }

    /// Returns the scalar integers that a declaration introduces; `None` if
    /// it declares anything else.
    fn declared(&self, node: Node<'_>) -> Option<Vec<(String, Option<Value>)>> {
        let kind = self.text(node.child_by_field_name("type")?);
        let integer = ["int", "size_t", "unsigned", "long", "char", "short"];
        if !integer.iter().any(|name| kind.contains(name)) {
            return None;
        }
        let mut cursor = node.walk();
        let mut names = Vec::new();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            match declarator.kind() {
                "init_declarator" => {
                    let name = declarator.child_by_field_name("declarator")?;
                    if name.kind() != "identifier" {
                        return None;
                    }
                    let value = declarator.child_by_field_name("value")?;
                    names.push((self.text(name).to_owned(), self.value(value)));
                }
                "identifier" => names.push((self.text(declarator).to_owned(), None)),
                _ => return None,
            }
        }
        Some(names)
    }

    fn read_block(&mut self, block: Node<'_>, statements: &mut Vec<Statement>) {
        let depth = self.scope.len();
        for node in children(block) {
            self.read_statement(node, statements);
        }
        self.scope.truncate(depth);
    }

    fn read_statement(&mut self, node: Node<'_>, statements: &mut Vec<Statement>) {
        match node.kind() {
            "comment" => statements.push(Statement::Comment(self.text(node).to_owned())),
            "compound_statement" => self.read_block(node, statements),
            "for_statement" => {
                let depth = self.scope.len();
                let read = self.read_loop(node);
                self.scope.truncate(depth);
                statements.push(match read {
                    Some(inner) => Statement::Loop(inner),
                    None => self.verbatim_statement(node),
                });
            }
            "if_statement" => match self.read_guard(node) {
                Some(guard) => match guard.condition {
                    Condition::Constant(true) => statements.extend(guard.then),
                    Condition::Constant(false) => statements.extend(guard.otherwise),
                    _ => statements.push(Statement::Guard(guard)),
                },
                None => statements.push(self.verbatim_statement(node)),
            },
            "declaration" => self.read_declaration(node, statements),
            "expression_statement" => {
                let call = node
                    .named_child(0)
                    .filter(|call| call.kind() == "call_expression");
                if node.named_child(0).is_none() {
                    return;
                }
                statements.push(match call.and_then(|call| self.command(call)) {
                    Some(command) => Statement::Command(command),
                    None => self.verbatim_statement(node),
                });
            }
            _ => statements.push(self.verbatim_statement(node)),
        }
    }

    fn read_declaration(&mut self, node: Node<'_>, statements: &mut Vec<Statement>) {
        let names = self.declared(node);
        let constant = names.as_ref().is_some_and(|names| {
            names
                .iter()
                .all(|(name, value)| value.is_some() && !self.assigned.contains(name))
        });
        if !constant {
            statements.push(self.verbatim_statement(node));
        }
        match names {
            Some(names) => {
                let values = names
                    .into_iter()
                    .map(|(name, value)| (name, value.filter(|_| constant)));
                self.scope.extend(values);
            }
            None => {
                // Whatever the names are, they hide constants of the same name.
                let mut pending = vec![node];
                while let Some(inner) = pending.pop() {
                    if inner.kind() == "identifier" {
                        self.scope.push((self.text(inner).to_owned(), None));
                    }
                    pending.extend(children(inner));
                }
            }
        }
    }

    fn read_loop(&mut self, node: Node<'_>) -> Option<Loop> {
        let header = node.child_by_field_name("initializer")?;
        let mut names = self.declared(header).filter(|names| names.len() == 1)?;
        let (variable, start) = names.pop()?;
        let start = start?.as_constant()?;
        let in_scope = self.scope.iter().any(|(name, _)| *name == variable);
        if self.assigned.contains(&variable) || in_scope {
            return None;
        }
        let end = self.loop_end(node.child_by_field_name("condition")?, &variable)?;
        let step = self.loop_step(node.child_by_field_name("update")?, &variable)?;
        // The bounds keep every value of the variable far from overflow.
        let bound = 1 << 40;
        if step <= 0 || end <= start || end.abs() > bound || start.abs() > bound || bound < step {
            return None;
        }
        let value = Value::Plain(Affine::variable(&variable));
        self.scope.push((variable.clone(), Some(value)));
        let mut body = Vec::new();
        self.read_statement(node.child_by_field_name("body")?, &mut body);
        Some(Loop {
            variable,
            start,
            end,
            step,
            body,
        })
    }

    fn loop_end(&self, condition: Node<'_>, variable: &str) -> Option<i64> {
        if condition.kind() != "binary_expression" {
            return None;
        }
        let left = condition.child_by_field_name("left")?;
        let operator = self.text(condition.child_by_field_name("operator")?);
        let right = self
            .value(condition.child_by_field_name("right")?)?
            .as_constant()?;
        if self.text(left) != variable {
            return None;
        }
        match operator {
            "<" | "!=" => Some(right),
            "<=" => right.checked_add(1),
            _ => None,
        }
    }

    fn loop_step(&self, update: Node<'_>, variable: &str) -> Option<i64> {
        match update.kind() {
            "update_expression" => {
                let argument = update.child_by_field_name("argument")?;
                let operator = self.text(update.child_by_field_name("operator")?);
                (self.text(argument) == variable && operator == "++").then_some(1)
            }
            "assignment_expression" => {
                let left = update.child_by_field_name("left")?;
                if self.text(left) != variable {
                    return None;
                }
                let operator = self.text(update.child_by_field_name("operator")?);
                let right = update.child_by_field_name("right")?;
                match operator {
                    "+=" => self.value(right)?.as_constant(),
                    "=" if right.kind() == "binary_expression" => {
                        let from = right.child_by_field_name("left")?;
                        let plus = self.text(right.child_by_field_name("operator")?);
                        let step = self.value(right.child_by_field_name("right")?)?;
                        (self.text(from) == variable && plus == "+").then_some(())?;
                        step.as_constant()
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn read_guard(&mut self, node: Node<'_>) -> Option<Guard> {
        let condition = self.condition(node.child_by_field_name("condition")?)?;
        let depth = self.scope.len();
        let mut then = Vec::new();
        self.read_statement(node.child_by_field_name("consequence")?, &mut then);
        self.scope.truncate(depth);
        let mut otherwise = Vec::new();
        if let Some(alternative) = node.child_by_field_name("alternative") {
            for inner in children(alternative) {
                self.read_statement(inner, &mut otherwise);
            }
        }
        self.scope.truncate(depth);
        Some(Guard {
            condition,
            then,
            otherwise,
        })
    }

    fn verbatim_statement(&self, node: Node<'_>) -> Statement {
        Statement::Opaque(self.verbatim(node))
    }

    /// Returns the text of `node` with constants that lost their declaration written out.
    pub(crate) fn verbatim(&self, node: Node<'_>) -> String {
        let mut replacements = Vec::new();
        let mut pending = vec![node];
        while let Some(inner) = pending.pop() {
            if inner.kind() == "identifier"
                && let Some((name, Some(value))) = self.lookup_local(self.text(inner))
                && *value != Value::Plain(Affine::variable(name))
            {
                replacements.push((inner.byte_range(), value.to_c_operand()));
            }
            pending.extend(children(inner));
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
        text
    }
}

//! Numbers that are known: constants, and sums of loop variables.

use super::super::code::{Element, Expression};
use super::{Binding, EXTENT_LIMIT, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{assigned_names, children};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Returns the variables and arrays below `root` that something may change: directly,
/// through a pointer, or by a function that gets them.
pub(super) fn changed_names(root: Node<'_>, source: &str) -> BTreeSet<String> {
    let first_name = |text: &str| -> String {
        let text = text.trim_start_matches(['(', '*', '&', ' ']);
        text.chars()
            .take_while(|it| it.is_ascii_alphanumeric() || *it == '_')
            .collect()
    };
    let assigned = assigned_names(root, source);
    let mut changed: BTreeSet<String> = assigned.iter().map(|it| first_name(it)).collect();
    // What a pointer is made of, and what a function gets, with the name that changes it.
    let mut leads: Vec<(Option<String>, BTreeSet<String>)> = Vec::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        let text = |node: Node<'_>| &source[node.byte_range()];
        match node.kind() {
            "init_declarator" => {
                let pointer = node
                    .child_by_field_name("declarator")
                    .filter(|it| it.kind() == "pointer_declarator" || text(*it).starts_with('('));
                if let (Some(pointer), Some(value)) = (pointer, node.child_by_field_name("value")) {
                    let name = first_name(
                        text(pointer)
                            .trim_start_matches(['(', '*', ' '])
                            .trim_start_matches("restrict")
                            .trim_start(),
                    );
                    leads.push((Some(name), identifiers(value, source)));
                }
            }
            "call_expression" => {
                if let Some(arguments) = node.child_by_field_name("arguments") {
                    // Values that a function gets stay as they are.
                    let pointers = children(arguments)
                        .into_iter()
                        .filter(|it| it.kind() != "number_literal");
                    let names = pointers.flat_map(|it| identifiers(it, source)).collect();
                    let callee = node.child_by_field_name("function").map(text);
                    if callee.is_some_and(|it| writes(root, source, it)) {
                        leads.push((None, names));
                    }
                }
            }
            _ => {}
        }
        pending.extend(children(node));
    }
    loop {
        let before = changed.len();
        for (name, made_of) in &leads {
            if name.as_ref().is_none_or(|name| changed.contains(name)) {
                changed.extend(made_of.iter().cloned());
            }
        }
        if changed.len() == before {
            return changed;
        }
    }
}

/// Returns whether a function may write where its arguments point: all but those of
/// this file that take values and constant pointers only, and those of the C library's
/// mathematics.
fn writes(root: Node<'_>, source: &str, callee: &str) -> bool {
    let own = autocomp_c_loops::syntax::entry(root, source, callee);
    let Some(own) = own else {
        return callee.starts_with("mem");
    };
    let parameters = own
        .child_by_field_name("declarator")
        .and_then(|it| it.child_by_field_name("parameters"));
    parameters.is_some_and(|list| {
        children(list).into_iter().any(|it| {
            let text = &source[it.byte_range()];
            text.contains(['*', '[']) && !text.contains("const")
        })
    })
}

fn identifiers(node: Node<'_>, source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        if node.kind() == "identifier" {
            found.insert(source[node.byte_range()].to_owned());
        }
        pending.extend(children(node));
    }
    found
}

/// Returns the value of a whole number as C writes it.
pub(super) fn whole(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => text.parse::<i64>().ok()?,
    };
    (value.abs() <= EXTENT_LIMIT).then_some(value)
}

/// Returns a whole number as an expression.
pub(super) fn number(value: i64) -> Expression {
    let text = Expression::Number(value.unsigned_abs().to_string());
    match value < 0 {
        true => Expression::Negative(Box::new(text)),
        false => text,
    }
}

impl<'s> Reader<'s> {
    /// Reads a sum of loop variables with coefficients, if it is one.
    pub(super) fn affine(&self, node: Node<'s>) -> Option<Affine> {
        let field = |name: &str| self.affine(node.child_by_field_name(name)?);
        match node.kind() {
            "parenthesized_expression" => self.affine(node.named_child(0)?),
            "number_literal" => whole(self.text(node)).map(Affine::constant),
            "identifier" => {
                let name = self.text(node);
                match self.bindings.get(name) {
                    Some(Binding::Index(affine)) => Some(affine.clone()),
                    Some(Binding::Counter(value)) => value.map(Affine::constant),
                    Some(_) => None,
                    None => {
                        let is_loop = self.loops.iter().any(|it| it.variable == name);
                        is_loop.then(|| Affine::variable(name))
                    }
                }
            }
            "cast_expression" => {
                let kind = self.type_name(self.text(node.child_by_field_name("type")?));
                is_index(&kind).then(|| field("value"))?
            }
            "sizeof_expression" => {
                let inner = node
                    .child_by_field_name("type")
                    .or(node.child_by_field_name("value"))?;
                self.size_of(inner).map(Affine::constant)
            }
            "conditional_expression" => {
                match self.known_condition(node.child_by_field_name("condition")?)? {
                    true => field("consequence"),
                    false => field("alternative"),
                }
            }
            "unary_expression" if self.text(node).starts_with('-') => field("argument")?.times(-1),
            "unary_expression" if self.text(node).starts_with('+') => field("argument"),
            "unary_expression" if self.text(node).starts_with('~') => {
                field("argument")?.times(-1)?.plus_constant(-1)
            }
            "binary_expression" => {
                let (left, right) = (field("left")?, field("right")?);
                match (
                    self.text(node.child_by_field_name("operator")?),
                    right.as_constant(),
                ) {
                    ("+", _) => left.plus(&right),
                    ("-", _) => left.minus(&right),
                    ("*", Some(factor)) => left.times(factor),
                    ("*", None) => right.times(left.as_constant()?),
                    ("<<", Some(shift @ 0..=24)) => left.times(1 << shift),
                    (">>", Some(shift @ 0..=24)) => left.divided_by(1 << shift),
                    ("/", Some(divisor)) => left.divided_by(divisor),
                    ("%", Some(divisor)) => left.remainder_by(divisor),
                    ("&", Some(mask)) => Some(Affine::constant(left.as_constant()? & mask)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the bytes of a type or of an array of known size.
    fn size_of(&self, node: Node<'s>) -> Option<i64> {
        let mut inner = node;
        while inner.kind() == "parenthesized_expression" {
            inner = inner.named_child(0)?;
        }
        let bytes = |kind: &str| -> Option<i64> {
            Some(match kind {
                "int8_t" | "uint8_t" | "char" => 1,
                "int16_t" | "uint16_t" | "_Float16" => 2,
                "float" | "int32_t" | "uint32_t" => 4,
                "double" | "int64_t" | "uint64_t" => 8,
                _ => return None,
            })
        };
        if inner.kind() == "identifier" {
            let variable = self.variable(self.text(inner));
            if let Some(named) = self.names.get(&variable.name) {
                // The size of a parameter is that of a pointer.
                let is_parameter = self.parameter_names.contains(&variable.name);
                let all: i64 = named
                    .extents
                    .iter()
                    .try_fold(1_i64, |a, b| a.checked_mul(*b))?;
                return match is_parameter {
                    true => None,
                    false => bytes(&named.kind)?.checked_mul(all),
                };
            }
        }
        bytes(&self.type_name(self.text(inner)))
    }

    /// Returns what a type is called here: one name for each meaning.
    pub(super) fn type_name(&self, text: &str) -> String {
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|it| *it != "const")
            .collect();
        let joined = words.join(" ");
        let name = match joined.as_str() {
            "int" | "signed" | "signed int" => "int32_t",
            "unsigned" | "unsigned int" => "uint32_t",
            "short" | "short int" => "int16_t",
            "unsigned short" => "uint16_t",
            "signed char" => "int8_t",
            "unsigned char" => "uint8_t",
            "long" | "long int" | "long long" | "ptrdiff_t" | "ssize_t" | "intptr_t" => "int64_t",
            "size_t" | "unsigned long" | "unsigned long long" | "uintptr_t" => "uint64_t",
            other => match self.types.get(other) {
                Some(known) => known,
                None => other,
            },
        };
        name.to_owned()
    }

    /// Returns whether a value is the same wherever it is read in the kernel.
    pub(super) fn is_stable(&self, value: &Expression) -> bool {
        let stable = |element: &&Element| !self.changed.contains(&element.name);
        value.reads().iter().all(stable)
    }

    /// Reads constants, types and arrays of the file.
    pub(super) fn of_file(&mut self, node: Node<'s>) -> Result<(), Refusal> {
        match node.kind() {
            "comment" | ";" => Ok(()),
            "expression_statement" if self.text(node) == ";" => Ok(()),
            "enum_specifier" => self.enumerators(node),
            "type_definition" => {
                let kind = self.field(node, "type")?;
                let name = self.field(node, "declarator")?;
                if kind.kind() == "enum_specifier" {
                    self.types
                        .insert(self.text(name).to_owned(), "int32_t".into());
                    return self.enumerators(kind);
                }
                if name.kind() != "type_identifier" {
                    return self.not_understood(node);
                }
                let kind = self.type_name(self.text(kind));
                self.types.insert(self.text(name).to_owned(), kind);
                Ok(())
            }
            "declaration" => {
                if self.text(node).contains('(') && !self.text(node).contains('=') {
                    // Announces a function.
                    return Ok(());
                }
                if let Some(kind) = node.child_by_field_name("type")
                    && kind.kind() == "enum_specifier"
                {
                    self.enumerators(kind)?;
                }
                self.file_declaration(node)
            }
            kind => Err(Refusal::at(
                1 + node.start_position().row,
                format!("has {kind} outside of functions, which is not understood"),
            )),
        }
    }

    fn enumerators(&mut self, node: Node<'s>) -> Result<(), Refusal> {
        let Some(list) = node.child_by_field_name("body") else {
            return Ok(());
        };
        let mut next = 0;
        for item in children(list) {
            if item.kind() != "enumerator" {
                continue;
            }
            let name = self.text(self.field(item, "name")?).to_owned();
            if let Some(value) = item.child_by_field_name("value") {
                match self.affine(value).and_then(|it| it.as_constant()) {
                    Some(value) => next = value,
                    None => return self.not_understood(item),
                }
            }
            self.bindings
                .insert(name, Binding::Index(Affine::constant(next)));
            next += 1;
        }
        Ok(())
    }
}

/// Returns whether a type holds every index there is.
pub(super) fn is_index(kind: &str) -> bool {
    ["int32_t", "uint32_t", "int64_t", "uint64_t"].contains(&kind)
}

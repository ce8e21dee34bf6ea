//! Loads and stores of elements some places apart.

use crate::elements::reads_and_writes;
use crate::groups::Group;
use autocomp_c_loops::syntax::{below, children};
use tree_sitter::Node;

/// A load or a store of elements some places apart.
pub(super) struct Access<'s, 't> {
    pub call: Node<'t>,
    /// Pointer, stride and length.
    pub arguments: [Node<'t>; 3],
    /// The statement of the block that it stands in.
    pub statement: Node<'t>,
    pub pointer: &'s str,
    /// Where the first field lies, and which field it is.
    place: Place<'s>,
    pub field: u32,
    /// `f32m4`.
    pub group: &'s str,
    /// Fields that lie between an element and the next one, this one counted.
    pub fields: u32,
    pub length: &'s str,
    /// What is stored.
    pub value: Option<Node<'t>>,
}

/// A place in memory, but for a number of elements that is added last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place<'s> {
    array: &'s str,
    index: &'s str,
}

impl<'s, 't> Access<'s, 't> {
    /// Reads a call of `vlse` or `vsse` in a statement.
    pub(super) fn read(call: Node<'t>, statement: Node<'t>, source: &'s str) -> Option<Self> {
        let text = |node: Node<'_>| &source[node.byte_range()];
        let callee = text(call.child_by_field_name("function")?);
        let words: Vec<&str> = callee.strip_prefix("__riscv_")?.split('_').collect();
        let [operation, "v", group] = words[..] else {
            return None;
        };
        let (kind, arguments) = (
            Group::read(group)?,
            children(call.child_by_field_name("arguments")?),
        );
        let is = |name: &str| operation == format!("{name}{}", kind.bits);
        let (pointer, stride, value, length) = match arguments[..] {
            [pointer, stride, length] if is("vlse") => (pointer, stride, None, length),
            [pointer, stride, value, length] if is("vsse") => {
                (pointer, stride, Some(value), length)
            }
            _ => return None,
        };
        let bytes = number(stride, source)?;
        let fields = bytes * 8 / kind.bits;
        let (place, field) = place(pointer, source)?;
        // Eight registers are most.
        let fits = (2..=8).contains(&fields) && fields << kind.registers.max(0) <= 8;
        let is_whole = fields * kind.bits == bytes * 8 && field < fields;
        let arguments = [pointer, stride, length];
        let is_pure = arguments
            .iter()
            .all(|it| does(*it, source) == Does::Nothing);
        (fits && is_whole && is_pure && is_always_done(call, statement)).then_some(Self {
            call,
            arguments,
            statement,
            pointer: text(pointer),
            place,
            field,
            group,
            fields,
            length: text(length),
            value,
        })
    }

    /// Returns whether two accesses are of fields of the same elements.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.place, it.group, it.fields, it.value.is_some());
        key(self) == key(other) && self.length == other.length
    }

    /// Returns the intrinsic that accesses all fields, and the type of what it holds.
    pub(super) fn segment(&self) -> (String, String) {
        let bits = Group::read(self.group).map_or(0, |it| it.bits);
        let operation = if self.value.is_some() {
            "vsseg"
        } else {
            "vlseg"
        };
        let (fields, tuple) = (self.fields, format!("{}x{}", self.group, self.fields));
        (
            format!("__riscv_{operation}{fields}e{bits}_v_{tuple}"),
            tuple,
        )
    }
}

/// What an expression does beside having a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    Nothing,
    /// It reads memory by intrinsics.
    Reads,
    /// It writes something, or calls what may.
    More,
}

/// Returns what an expression does.
pub(super) fn does(node: Node<'_>, source: &str) -> Does {
    let each = below(node).into_iter().map(|node| match node.kind() {
        "call_expression" => call_does(node, source),
        "assignment_expression" | "update_expression" => Does::More,
        _ => Does::Nothing,
    });
    each.max().unwrap_or(Does::Nothing)
}

/// Returns what a call does, but for its arguments.
pub(super) fn call_does(call: Node<'_>, source: &str) -> Does {
    let callee = call.child_by_field_name("function");
    match callee.and_then(|it| reads_and_writes(&source[it.byte_range()])) {
        Some((false, false)) => Does::Nothing,
        Some((true, false)) => Does::Reads,
        _ => Does::More,
    }
}

/// Returns whether an expression is evaluated whenever its statement is.
fn is_always_done(node: Node<'_>, statement: Node<'_>) -> bool {
    let mut around = node;
    while around != statement {
        let operator = around.child_by_field_name("operator").map(|it| it.kind());
        if around.kind() == "conditional_expression" || matches!(operator, Some("&&" | "||")) {
            return false;
        }
        match around.parent() {
            Some(parent) => around = parent,
            None => return false,
        }
    }
    true
}

/// Takes a number of elements that is added last off a pointer.
fn place<'s>(pointer: Node<'_>, source: &'s str) -> Option<(Place<'s>, u32)> {
    let text = |node: Node<'_>| &source[node.byte_range()];
    let is_address = pointer.kind() == "pointer_expression" && text(pointer).starts_with('&');
    if is_address {
        let element = pointer.child_by_field_name("argument")?;
        if element.kind() != "subscript_expression" {
            return None;
        }
        let array = text(element.child_by_field_name("argument")?);
        let (index, field) = without_number(element.child_by_field_name("index")?, source);
        return Some((Place { array, index }, field));
    }
    let (array, field) = without_number(pointer, source);
    Some((Place { array, index: "" }, field))
}

/// Takes a number that is added last off an expression.
fn without_number<'s>(node: Node<'_>, source: &'s str) -> (&'s str, u32) {
    let text = |node: Node<'_>| &source[node.byte_range()];
    if let Ok(number) = text(node).parse() {
        return ("", number);
    }
    let sides = ["left", "operator", "right"].map(|it| node.child_by_field_name(it));
    if let [Some(left), Some(operator), Some(right)] = sides
        && node.kind() == "binary_expression"
        && operator.kind() == "+"
        && let Ok(number) = text(right).parse()
    {
        return (text(left), number);
    }
    (text(node), 0)
}

/// Returns a number of bytes.
fn number(node: Node<'_>, source: &str) -> Option<u32> {
    let text = &source[node.byte_range()];
    match node.kind() {
        "number_literal" => text.parse().ok().filter(|it| *it <= 64),
        "parenthesized_expression" => number(node.named_child(0)?, source),
        "binary_expression" if node.child_by_field_name("operator")?.kind() == "*" => {
            let [left, right] = ["left", "right"].map(|it| node.child_by_field_name(it));
            number(left?, source)?.checked_mul(number(right?, source)?)
        }
        "sizeof_expression" => {
            let inner = text.strip_prefix("sizeof")?.trim().strip_prefix('(')?;
            match inner.strip_suffix(')')?.trim() {
                "int8_t" | "uint8_t" | "char" => Some(1),
                "int16_t" | "uint16_t" | "_Float16" => Some(2),
                "int32_t" | "uint32_t" | "int" | "float" => Some(4),
                "int64_t" | "uint64_t" | "double" => Some(8),
                _ => None,
            }
        }
        _ => None,
    }
}

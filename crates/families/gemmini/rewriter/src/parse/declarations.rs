//! Reads declarations: which variables are followed, and which stay.

use super::Reader;
use super::scope::{Binding, Entry, Obstacle, Orbit, Quantity, Read};
use super::statements::calls;
use crate::kernel::Statement;
use crate::syntax::children;
use crate::value::Value;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The longest circle of values that a variable may go round in.
const PERIOD_LIMIT: usize = 16;
/// The largest constant table.
const TABLE_LIMIT: usize = 4096;

/// What a declarator declares.
pub(super) struct Declared<'tree> {
    pub(super) name: Node<'tree>,
    /// The extents, innermost first; absent where none is written.
    pub(super) extents: Vec<Option<Node<'tree>>>,
    /// Whether it is a pointer, to arrays of the extents if there are any.
    pub(super) pointer: bool,
}

/// Returns what a declaration or parameter declares, unless it is too involved.
pub(super) fn declared_name(node: Node<'_>) -> Option<Declared<'_>> {
    let mut extents = Vec::new();
    let mut pointer = false;
    let mut declarator = node.child_by_field_name("declarator")?;
    loop {
        match declarator.kind() {
            "identifier" => {
                return Some(Declared {
                    name: declarator,
                    extents,
                    pointer,
                });
            }
            "array_declarator" if !pointer => {
                extents.push(declarator.child_by_field_name("size"));
            }
            "pointer_declarator" if !pointer => pointer = true,
            "parenthesized_declarator" => {
                declarator = declarator.named_child(0)?;
                continue;
            }
            _ => return None,
        }
        declarator = declarator.child_by_field_name("declarator")?;
    }
}

impl<'tree> Reader<'tree> {
    /// Reads a declaration; it stays where a variable of it must.
    pub(super) fn declaration(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        self.tick()?;
        let kind_node = self.field(node, "type")?;
        if kind_node.kind() == "enum_specifier" {
            self.enumeration(kind_node)?;
        }
        let mut cursor = node.walk();
        let declarators: Vec<Node<'tree>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let length = self.scope.len();
        let mut keep = None;
        for declarator in &declarators {
            match self.declarator(node, kind_node, *declarator) {
                Ok(entry) => {
                    if let Binding::Kept(reason) = &entry.binding {
                        keep.get_or_insert(reason.clone());
                    }
                    self.scope.push(entry);
                }
                Err(other) => {
                    self.scope.truncate(length);
                    return Err(other);
                }
            }
        }
        out.append(&mut self.emitted);
        let Some(reason) = keep else {
            return Ok(());
        };
        if 0 < self.depth {
            return self.unread(node, reason);
        }
        for entry in &mut self.scope[length..] {
            entry.binding = Binding::Kept(reason.clone());
            entry.orbit = None;
        }
        // The declared names stand for themselves in the text that stays.
        let added = self.scope.split_off(length);
        let text = self.verbatim(node)?;
        self.scope.extend(added);
        out.push(Statement::Opaque(text));
        Ok(())
    }

    fn declarator(
        &mut self,
        node: Node<'tree>,
        kind_node: Node<'tree>,
        declarator: Node<'tree>,
    ) -> Read<Entry> {
        let (declared, value) = match declarator.kind() {
            "init_declarator" => (
                declared_name(declarator),
                declarator.child_by_field_name("value"),
            ),
            _ => (bare_declarator(declarator), None),
        };
        let Some(declared) = declared else {
            return self.unread(declarator, "this declaration is not understood");
        };
        let name = self.text(declared.name);
        let key = declared.name.start_byte();
        let entry = |binding| Entry {
            name: name.to_owned(),
            key,
            binding,
            orbit: None,
        };
        if let Some(reason) = self.kept.get(&key) {
            return Ok(entry(Binding::Kept(reason.clone())));
        }
        let words: Vec<&str> = self.text(node).split_whitespace().collect();
        let constant = words.contains(&"const");
        let kind = self.text(kind_node);
        let keep = |reason: &str| Ok(entry(Binding::Kept(reason.to_owned())));
        if self.takes_address(self.function, name) {
            return keep("its address is taken");
        }
        if (words.contains(&"static") || words.contains(&"volatile")) && !constant {
            return keep("it outlives a call");
        }
        if !declared.pointer && !declared.extents.is_empty() {
            let written = self.writes_elements(self.function, name);
            if let Some(value) = value
                && !written
                && let Some(quantity) = self.table(&declared, value)?
            {
                return Ok(entry(Binding::Known(quantity)));
            }
            return keep("it is an array of the core");
        }
        let integer = self.scalar_bytes(kind).is_some() && !["float", "double"].contains(&kind);
        if !declared.pointer && !integer {
            if let Some(value) = value
                && matches!(
                    value.kind(),
                    "number_literal" | "unary_expression" | "identifier"
                )
                && !calls(value)
                && !self.assigned_in(self.function, name)
            {
                let text = self.verbatim(value)?;
                return Ok(entry(Binding::Known(Quantity::Text(text))));
            }
            return keep("it is no integer");
        }
        let Some(value) = value else {
            return Ok(entry(Binding::Unknown("it has no value yet".to_owned())));
        };
        let quantity = match self.quantity(value) {
            Ok(quantity) => quantity,
            Err(Obstacle::Unread(_, reason)) => {
                let pure = !calls(value) || self.text(value).starts_with("read_cycles");
                return Ok(entry(match pure {
                    true => Binding::Unknown(reason),
                    false => Binding::Kept(reason),
                }));
            }
            Err(other) => return Err(other),
        };
        let quantity = match quantity {
            Quantity::Pointer(pointer) if declared.pointer => {
                Quantity::Pointer(self.with_rows(pointer, declared.extents.len(), kind))
            }
            other => other,
        };
        if let Quantity::Integer(value) = &quantity
            && let Some(start) = value.as_constant()
            && !declared.pointer
        {
            if (kind == "int" || kind == "int32_t") && i64::from(i32::MAX) < start {
                let reason = "its value does not fit an `int`";
                return Ok(entry(Binding::Unknown(reason.to_owned())));
            }
            if let Some(orbit) = self.orbit(name, start) {
                return Ok(Entry {
                    orbit: Some(orbit),
                    ..entry(Binding::Known(Quantity::Integer(Value::constant(0))))
                });
            }
        }
        Ok(entry(Binding::Known(quantity)))
    }

    /// Returns the values of a constant array.
    fn table(&mut self, declared: &Declared<'tree>, value: Node<'tree>) -> Read<Option<Quantity>> {
        if value.kind() != "initializer_list" {
            return Ok(None);
        }
        let mut extents = Vec::new();
        for extent in declared.extents.iter().rev() {
            match extent {
                Some(extent) => extents.push(self.constant(*extent)?),
                None => extents.push(children(value).len() as i64),
            }
        }
        let mut values = Vec::new();
        if !self.listed(value, &extents, &mut values) {
            return Ok(None);
        }
        Ok(Some(Quantity::Table(values, extents)))
    }

    /// Adds the values of an initializer; returns whether they are all integers.
    fn listed(&mut self, list: Node<'tree>, extents: &[i64], values: &mut Vec<i64>) -> bool {
        let Some((extent, inner)) = extents.split_first() else {
            return false;
        };
        let size: i64 = extents.iter().product();
        let Ok(size) = usize::try_from(size) else {
            return false;
        };
        let end = values.len() + size;
        if TABLE_LIMIT < end || *extent < children(list).len() as i64 {
            return false;
        }
        for item in children(list) {
            let listed = match (item.kind(), inner.is_empty()) {
                ("comment", _) => true,
                ("initializer_list", false) => self.listed(item, inner, values),
                (_, true) => match self.quantity(item) {
                    Ok(Quantity::Integer(value)) => match value.as_constant() {
                        Some(value) => {
                            values.push(value);
                            true
                        }
                        None => false,
                    },
                    _ => false,
                },
                _ => false,
            };
            if !listed {
                return false;
            }
        }
        values.resize(end, 0);
        true
    }

    /// Adds the constants of an enumeration to what is known everywhere.
    pub(super) fn enumeration(&mut self, node: Node<'tree>) -> Read<()> {
        let Some(body) = node.child_by_field_name("body") else {
            return Ok(());
        };
        let mut next = 0;
        for item in children(body) {
            if item.kind() != "enumerator" {
                continue;
            }
            let name = self.field(item, "name")?;
            if let Some(value) = item.child_by_field_name("value") {
                next = self.constant(value)?;
            }
            let value = Quantity::Integer(Value::constant(next));
            self.globals.insert(self.text(name).to_owned(), value);
            next += 1;
        }
        Ok(())
    }

    /// Returns the circle that a variable goes round in, if every assignment
    /// in the function takes it one place further or to one of its places.
    fn orbit(&mut self, name: &str, start: i64) -> Option<Orbit> {
        let mut turns = Vec::new();
        let mut settings = Vec::new();
        for node in self.assignments(name) {
            let right = node.child_by_field_name("right");
            let plain = node.kind() == "assignment_expression" && self.operator(node) == "=";
            match right {
                Some(right) if plain && !self.mentions_name(right, name) => {
                    settings.push(right);
                }
                _ => turns.push(node),
            }
        }
        let mut orbit: Option<Orbit> = None;
        for turn in &turns {
            let found = self.circle(*turn, name, start)?;
            if orbit.is_some_and(|orbit| orbit != found) {
                return None;
            }
            orbit = Some(found);
        }
        let orbit = orbit?;
        for setting in settings {
            orbit.count(self.integer(setting).ok()?.as_constant()?)?;
        }
        Some(orbit)
    }

    /// Returns the assignments to a variable in the function that is being read.
    fn assignments(&mut self, name: &str) -> Vec<Node<'tree>> {
        let body = self.function;
        if !self.assigned.contains_key(&body.id()) {
            let mut assigned = BTreeMap::<&str, Vec<Node<'tree>>>::new();
            let mut pending = vec![body];
            while let Some(node) = pending.pop() {
                let target = match node.kind() {
                    "assignment_expression" => node.child_by_field_name("left"),
                    "update_expression" => node.child_by_field_name("argument"),
                    _ => None,
                };
                if let Some(target) = target {
                    assigned.entry(self.text(target)).or_default().push(node);
                }
                pending.extend(children(node));
            }
            self.assigned.insert(body.id(), assigned);
        }
        let of_function = &self.assigned[&body.id()];
        of_function.get(name).cloned().unwrap_or_default()
    }

    /// Returns the circle in which one assignment takes a variable round.
    fn circle(&mut self, turn: Node<'tree>, name: &str, start: i64) -> Option<Orbit> {
        let mut values = vec![start];
        let length = self.scope.len();
        loop {
            let value = Value::constant(*values.last()?);
            self.scope.push(Entry {
                name: name.to_owned(),
                key: usize::MAX,
                binding: Binding::Known(Quantity::Integer(value)),
                orbit: None,
            });
            let assigned = self.assignment(turn);
            let entry = self.scope.get(length).cloned();
            self.scope.truncate(length);
            assigned.ok()?;
            let next = match entry?.binding {
                Binding::Known(Quantity::Integer(value)) => value.as_constant()?,
                _ => return None,
            };
            if next == start {
                break;
            }
            values.push(next);
            if PERIOD_LIMIT < values.len() {
                return None;
            }
        }
        let step = values.get(1)?.checked_sub(start)?;
        let even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
        even.then_some(Orbit {
            start,
            step,
            period: values.len() as i64,
        })
    }

    fn mentions_name(&self, node: Node<'_>, name: &str) -> bool {
        (node.kind() == "identifier" && self.text(node) == name)
            || children(node)
                .into_iter()
                .any(|child| self.mentions_name(child, name))
    }

    /// Returns whether a variable is assigned to below `node`.
    fn assigned_in(&self, node: Node<'_>, name: &str) -> bool {
        crate::syntax::assigned_names(node, self.source).contains(name)
    }

    /// Returns whether elements of an array are assigned to below `node`.
    fn writes_elements(&self, node: Node<'_>, name: &str) -> bool {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            _ => None,
        };
        target
            .is_some_and(|target| target.kind() != "identifier" && self.mentions_name(target, name))
            || children(node)
                .into_iter()
                .any(|child| self.writes_elements(child, name))
    }
}

/// Returns what a declarator without a value declares.
fn bare_declarator(node: Node<'_>) -> Option<Declared<'_>> {
    match node.kind() {
        "identifier" => Some(Declared {
            name: node,
            extents: Vec::new(),
            pointer: false,
        }),
        "array_declarator" => {
            let mut declared = declared_name(node)?;
            declared.extents.insert(0, node.child_by_field_name("size"));
            Some(declared)
        }
        "pointer_declarator" => {
            let mut declared = declared_name(node)?;
            declared.pointer = true;
            Some(declared)
        }
        _ => None,
    }
}

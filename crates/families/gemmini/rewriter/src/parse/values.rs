//! Reads expressions: integers, conditions and constant tables.

use super::Reader;
use super::scope::{Binding, Obstacle, Quantity, Read};
use crate::affine::Affine;
use crate::condition::Condition;
use crate::parse_command::ROW_LIMIT;
use crate::value::{Value, binary};
use tree_sitter::Node;

impl<'tree> Reader<'tree> {
    /// Returns an obstacle at `node`.
    pub(crate) fn unread<T>(&self, node: Node<'_>, reason: impl Into<String>) -> Read<T> {
        Err(Obstacle::Unread(node.start_byte(), reason.into()))
    }

    /// Returns the value of an integer expression.
    pub(crate) fn integer(&mut self, node: Node<'tree>) -> Read<Value> {
        match self.quantity(node)? {
            Quantity::Integer(value) => Ok(self.settled(value)),
            _ => self.unread(node, format!("`{}` is no integer", self.short(node))),
        }
    }

    /// Returns the value of an integer expression that must be a constant.
    pub(crate) fn constant(&mut self, node: Node<'tree>) -> Read<i64> {
        let value = self.integer(node)?;
        if let Some(constant) = value.as_constant() {
            return Ok(constant);
        }
        match self.split_of(&value) {
            Some(split) => Err(split),
            None => self.unread(node, format!("`{}` is not a constant", self.short(node))),
        }
    }

    /// Returns how loops must be split so that `value` is a constant in each part.
    pub(crate) fn split_of(&self, value: &Value) -> Option<Obstacle> {
        match value {
            Value::Plain(affine) => self.change_of(affine, |value| value),
            Value::Select(condition, ..) => self.split_on(condition),
        }
    }

    /// Returns the value of an expression.
    pub(crate) fn quantity(&mut self, node: Node<'tree>) -> Read<Quantity> {
        self.tick()?;
        let integer = |value| Ok(Quantity::Integer(value));
        match node.kind() {
            "number_literal" | "char_literal" => match number(self.text(node)) {
                Some(value) => integer(Value::constant(value)),
                None => self.unread(node, format!("`{}` is no integer", self.short(node))),
            },
            "identifier" | "true" | "false" => self.name(node),
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.quantity(inner),
                None => self.unread(node, "empty parentheses"),
            },
            "null" => integer(Value::constant(0)),
            "cast_expression" => self.cast(node),
            "unary_expression" => {
                let operator = self.operator(node);
                if operator == "!" {
                    let condition = self.condition(node)?;
                    return integer(self.truth_value(node, condition)?);
                }
                let argument = self.field(node, "argument")?;
                let value = self.integer(argument)?;
                let zero = Value::constant(0);
                let result = match operator {
                    "-" => value.zip(&zero, |a, _| a.times(-1)),
                    "+" => Some(value),
                    "~" => value.zip(&zero, |a, _| a.times(-1)?.plus_constant(-1)),
                    _ => None,
                };
                self.some_integer(node, result)
            }
            "binary_expression" => self.binary(node),
            "conditional_expression" => {
                let condition_node = self.field(node, "condition")?;
                let condition = self.condition(condition_node)?;
                let then = self.field(node, "consequence")?;
                let otherwise = self.field(node, "alternative")?;
                match condition {
                    Condition::Constant(true) => self.quantity(then),
                    Condition::Constant(false) => self.quantity(otherwise),
                    condition => {
                        let then = self.quantity(then)?;
                        let otherwise = self.quantity(otherwise)?;
                        self.chosen(node, &condition, &then, &otherwise)
                    }
                }
            }
            "sizeof_expression" => self.size_of(node),
            "pointer_expression" | "subscript_expression" => self.place(node),
            "call_expression" => self.call_value(node),
            "assignment_expression" | "update_expression" => self.assignment(node),
            "comma_expression" => {
                let left = self.field(node, "left")?;
                let right = self.field(node, "right")?;
                self.quantity(left)?;
                self.quantity(right)
            }
            _ => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    /// Returns `condition ? then : otherwise`.
    pub(super) fn chosen(
        &self,
        node: Node<'_>,
        condition: &Condition,
        then: &Quantity,
        otherwise: &Quantity,
    ) -> Read<Quantity> {
        if let Some(chosen) = then.choose(condition, otherwise) {
            return Ok(chosen);
        }
        match self.split_on(condition) {
            Some(split) => Err(split),
            None => self.unread(
                node,
                format!("`{}` may be one of too different values", self.short(node)),
            ),
        }
    }

    fn name(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let name = self.text(node);
        if let Some(entry) = self.entry(name) {
            return match &entry.binding {
                Binding::Known(Quantity::Integer(count)) => match &entry.orbit {
                    Some(orbit) => self.some_integer(node, orbit.value(count)),
                    None => Ok(Quantity::Integer(count.clone())),
                },
                Binding::Known(quantity) => Ok(quantity.clone()),
                Binding::Unknown(reason) | Binding::Kept(reason) => {
                    self.unread(node, format!("`{name}` is not known: {reason}"))
                }
            };
        }
        if let Some(quantity) = self.globals.get(name) {
            return Ok(quantity.clone());
        }
        if name == "NULL" {
            return Ok(Quantity::Integer(Value::constant(0)));
        }
        match self.vocabulary.constants.get(name) {
            Some(value) => Ok(Quantity::Integer(Value::constant(*value))),
            None => self.unread(node, format!("`{name}` is not known")),
        }
    }

    fn binary(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let operator = self.operator(node);
        if matches!(
            operator,
            "&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">="
        ) {
            let condition = self.condition(node)?;
            return Ok(Quantity::Integer(self.truth_value(node, condition)?));
        }
        let left_node = self.field(node, "left")?;
        let right_node = self.field(node, "right")?;
        let left = self.quantity(left_node)?;
        let right = self.quantity(right_node)?;
        self.combined(node, operator, left, right)
    }

    /// Returns the value of a binary operation.
    pub(super) fn combined(
        &self,
        node: Node<'_>,
        operator: &str,
        left: Quantity,
        right: Quantity,
    ) -> Read<Quantity> {
        let (left, right) = match (left, right) {
            (Quantity::Integer(left), Quantity::Integer(right)) => (left, right),
            (Quantity::Pointer(pointer), Quantity::Integer(value)) => {
                return self.moved(node, pointer, operator, &value);
            }
            (Quantity::Integer(value), Quantity::Pointer(pointer)) if operator == "+" => {
                return self.moved(node, pointer, operator, &value);
            }
            _ => {
                return self.unread(node, format!("`{}` is not understood", self.short(node)));
            }
        };
        let (left, right) = (self.settled(left), self.settled(right));
        // Flags are set by adding them, which is right only where they are not set yet.
        let flags = operator != "|" || (self.below_flags(&left) && self.below_flags(&right));
        if let Some(value) = binary(operator, &left, &right).filter(|_| flags) {
            return Ok(Quantity::Integer(self.settled(value)));
        }
        if let Some(value) = self.two_valued(operator, &left, &right) {
            return Ok(Quantity::Integer(value));
        }
        let conditions = [&left, &right].map(|value| match value {
            Value::Select(condition, ..) => self.split_on(condition),
            Value::Plain(_) => None,
        });
        if let Some(split) = conditions.into_iter().flatten().next() {
            return Err(split);
        }
        self.some_integer(node, None)
    }

    /// Returns whether what varies in a value leaves the bits of flags alone.
    fn below_flags(&self, value: &Value) -> bool {
        let below = |affine: &Affine| {
            let constant = affine.constant_part();
            let low = constant.rem_euclid(ROW_LIMIT);
            affine.as_constant().is_some()
                || affine
                    .plus_constant(low - constant)
                    .and_then(|rows| self.bounds(&rows))
                    .is_some_and(|(least, greatest)| 0 <= least && greatest < ROW_LIMIT)
        };
        match value {
            Value::Plain(affine) => below(affine),
            Value::Select(_, then, otherwise) => below(then) && below(otherwise),
        }
    }

    /// Returns the value of an operation of something that has two values and a constant.
    fn two_valued(&self, operator: &str, left: &Value, right: &Value) -> Option<Value> {
        let constant = right.as_constant()?;
        let affine = left.as_affine()?;
        let mut terms = affine.terms();
        let (atom, coefficient) = terms.next()?;
        let mut unit = Affine::default();
        unit.push(atom.clone(), 1);
        if terms.next().is_some() || self.bounds(&unit)? != (0, 1) {
            return None;
        }
        let apply = |value: i64| match operator {
            "^" => Some(value ^ constant),
            "&" => Some(value & constant),
            "|" => Some(value | constant),
            "%" if 0 < constant => Some(value.rem_euclid(constant)),
            "/" if 0 < constant && 0 <= value => Some(value / constant),
            _ => None,
        };
        let zero = apply(affine.constant_part())?;
        let one = apply(affine.constant_part().checked_add(coefficient)?)?;
        let result = unit.times(one.checked_sub(zero)?)?.plus_constant(zero)?;
        Some(Value::Plain(result))
    }

    pub(super) fn some_integer(&self, node: Node<'_>, value: Option<Value>) -> Read<Quantity> {
        match value {
            Some(value) => Ok(Quantity::Integer(value)),
            None => self.unread(
                node,
                format!(
                    "`{}` is no sum of multiples of loop variables",
                    self.short(node)
                ),
            ),
        }
    }

    fn cast(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let inner = self.field(node, "value")?;
        let kind_node = self.field(node, "type")?;
        let kind = self.text(kind_node).trim().to_owned();
        let quantity = self.quantity(inner)?;
        if kind_node.child_by_field_name("declarator").is_some() {
            return Ok(match quantity {
                Quantity::Pointer(pointer) => Quantity::Pointer(self.retyped(pointer, kind_node)),
                other => other,
            });
        }
        let bytes = self.scalar_bytes(&kind);
        match quantity {
            Quantity::Pointer(mut pointer) if bytes == Some(8) => {
                pointer.level = pointer.indices.len();
                pointer.bytes = true;
                Ok(Quantity::Pointer(pointer))
            }
            Quantity::Integer(value) => {
                let value = self.settled(value);
                let bounds = match &value {
                    Value::Plain(affine) => self.bounds(affine),
                    Value::Select(_, then, otherwise) => {
                        let (a, b) = (self.bounds(then), self.bounds(otherwise));
                        a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)))
                    }
                };
                let bits = bytes.filter(|_| !["float", "double"].contains(&kind.as_str()));
                let unsigned = kind.starts_with('u') || kind == "size_t" || kind == "bool";
                match (bits, bounds) {
                    (Some(4), _) if unsigned && value.as_constant().is_some() => {
                        let wrapped = value.as_constant().unwrap_or(0).rem_euclid(1 << 32);
                        Ok(Quantity::Integer(Value::constant(wrapped)))
                    }
                    (Some(4 | 8), _) => Ok(Quantity::Integer(value)),
                    (Some(bytes), Some((least, greatest))) => {
                        let (low, high) = match unsigned {
                            true => (0, (1 << (8 * bytes)) - 1),
                            false => (-(1 << (8 * bytes - 1)), (1 << (8 * bytes - 1)) - 1),
                        };
                        if low <= least && greatest <= high {
                            return Ok(Quantity::Integer(value));
                        }
                        self.unread(node, format!("`{}` may overflow", self.short(node)))
                    }
                    _ => self.unread(node, format!("`{}` is no integer", self.short(node))),
                }
            }
            _ => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    fn size_of(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let bytes = if let Some(kind) = node.child_by_field_name("type") {
            match kind.child_by_field_name("declarator") {
                Some(_) => Some(8),
                None => self.scalar_bytes(self.text(kind).trim()),
            }
        } else {
            let mut inner = self.field(node, "value")?;
            while inner.kind() == "parenthesized_expression" {
                let Some(next) = inner.named_child(0) else {
                    break;
                };
                inner = next;
            }
            match (inner.kind(), self.scalar_bytes(self.text(inner))) {
                ("identifier", Some(bytes)) => Some(bytes),
                ("subscript_expression" | "pointer_expression", _)
                    if self.operator(inner) != "&" =>
                {
                    self.bytes_at(inner)?
                }
                ("identifier", None) => match self.quantity(inner)? {
                    Quantity::Table(values, _) => Some(4 * values.len() as i64),
                    Quantity::Pointer(_) => Some(8),
                    _ => None,
                },
                _ => None,
            }
        };
        self.some_integer(node, bytes.map(Value::constant))
    }

    /// Returns the bytes of a scalar type, by its own name or one that the source gives it.
    pub(super) fn scalar_bytes(&self, name: &str) -> Option<i64> {
        let mut name = name;
        for _ in 0..8 {
            let plain: Vec<&str> = name
                .split_whitespace()
                .filter(|word| !["const", "volatile", "static", "register"].contains(word))
                .collect();
            if let Some(bytes) = self.vocabulary.bytes(&plain.join(" ")) {
                return Some(bytes);
            }
            name = self.types.get(plain.join(" ").as_str())?;
        }
        None
    }
}

fn number(text: &str) -> Option<i64> {
    if let Some(letter) = text.strip_prefix('\'') {
        let mut letters = letter.chars();
        return match (letters.next(), letters.next(), letters.next()) {
            (Some(letter), Some('\''), None) if letter.is_ascii() => Some(i64::from(letter as u8)),
            _ => None,
        };
    }
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(['u', 'l']);
    let (radix, digits) = match (digits.get(..2), digits) {
        (Some("0x"), _) => (16, &digits[2..]),
        (Some("0b"), _) => (2, &digits[2..]),
        (_, "0") => (10, digits),
        _ => match digits.strip_prefix('0') {
            Some(octal) => (8, octal),
            None => (10, digits),
        },
    };
    i64::from_str_radix(digits, radix).ok()
}

//! The values that a counter takes, by the head of its loop.

use super::super::shape;
use super::constants::is_index;
use super::limits::Limit;
use super::{Binding, EXTENT_LIMIT, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{below, between_commas};
use tree_sitter::Node;

/// The values that a counter takes: from the least on, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub least: i64,
    pub trips: i64,
    pub step: i64,
    /// Whether the greatest comes first.
    pub descends: bool,
    /// What the counter is behind the loop, if that is known.
    pub last: Option<i64>,
}

impl<'s> Reader<'s> {
    /// Returns the variable of a `for`, its first value if that is known, and its type.
    pub(super) fn first_value(
        &mut self,
        node: Node<'s>,
    ) -> Result<(&'s str, Option<Affine>, String), Refusal> {
        let Some(first) = node.child_by_field_name("initializer") else {
            let update = self.field(node, "update")?;
            let counter = ["argument", "left"]
                .into_iter()
                .find_map(|it| update.child_by_field_name(it));
            let variable = counter.map_or("", |it| self.text(it));
            return match self.bindings.get(variable) {
                Some(Binding::Counter(value)) => {
                    Ok((variable, value.map(Affine::constant), "int32_t".into()))
                }
                _ => self.not_understood(node),
            };
        };
        let condition = self.field(node, "condition")?;
        let firsts = between_commas(first).into_iter();
        let first = match firsts.into_iter().find(|it| self.is_asked(condition, *it)) {
            Some(own) => own,
            None => first,
        };
        if first.kind() == "assignment_expression" {
            let variable = self.text(self.field(first, "left")?);
            let value = self.affine(self.field(first, "right")?);
            return match self.bindings.get(variable) {
                Some(Binding::Counter(_)) => Ok((variable, value, "int32_t".into())),
                _ => self.not_understood(node),
            };
        }
        let kind = self.kind(first)?;
        if !is_index(&kind) {
            let declared = first.child_by_field_name("declarator");
            let place = declared.and_then(|it| it.child_by_field_name("declarator"));
            let is_pointer = place
                .is_some_and(|it| below(it).iter().any(|it| it.kind() == "pointer_declarator"));
            let why = match kind.as_str() {
                _ if is_pointer => "goes on by a pointer that is not followed",
                "float" | "double" | "_Float16" => "counts with numbers that are no whole ones",
                _ => "counts with numbers that may be too small",
            };
            return self.refused(node, why);
        }
        let mut cursor = first.walk();
        let declarators: Vec<Node<'s>> = first
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_asked = |it: &Node<'s>| {
            let name = it.child_by_field_name("declarator").map(|it| self.text(it));
            let names = below(condition);
            name.is_some()
                && names.into_iter().any(|it| Some(self.text(it)) == name)
                && name.is_some_and(|it| self.changed.contains(it))
        };
        let at = declarators.iter().position(is_asked).unwrap_or(0);
        let Some(counter) = declarators.get(at) else {
            return self.not_understood(node);
        };
        let others = declarators.iter().filter(|it| *it != counter);
        if counter.kind() != "init_declarator" {
            return self.not_understood(node);
        }
        // `for (int i = 0, n = 512; …)`
        for other in others {
            let name = other.child_by_field_name("declarator");
            let value = other
                .child_by_field_name("value")
                .and_then(|it| self.affine(it));
            match (name, value) {
                (Some(name), Some(value)) if !self.changed.contains(self.text(name)) => {
                    self.bindings
                        .insert(self.text(name).to_owned(), Binding::Index(value));
                }
                // `for (int i = 0, j = n - 1; i < n; i++, j--)`
                (Some(name), Some(value)) if value.as_constant().is_some() => {
                    self.bindings
                        .insert(self.text(name).to_owned(), Binding::Counter(value.as_constant()));
                }
                _ => return self.refused(*other, "begins where no number says, beside a counter: give it a name in front of the loop"),
            }
        }
        let variable = self.text(self.field(*counter, "declarator")?);
        let value = self.affine(self.field(*counter, "value")?);
        Ok((variable, value, kind))
    }

    /// Returns the least value of a number that loops around know.
    pub(super) fn least(&self, of: &Affine) -> Option<i64> {
        of.as_constant()
            .or_else(|| shape::range(of, &self.ranges()).map(|it| it.0))
    }

    /// Returns the values of a counter that begins with `start`, and below which number of the
    /// loops around it has to stay besides.
    pub(super) fn values(
        &self,
        node: Node<'s>,
        variable: &str,
        start: i64,
        condition: Node<'s>,
        update: Option<Node<'s>>,
    ) -> Result<(Values, Option<Limit>), Refusal> {
        let mut condition = condition;
        while condition.kind() == "parenthesized_expression" {
            match condition.named_child(0) {
                Some(inner) => condition = inner,
                None => return self.not_understood(node),
            }
        }
        // `do … while (--n > 0)`
        let is_counter = |it: Node<'_>| {
            let text = self.text(it);
            let is_update = update.is_some_and(|update| update.byte_range() == it.byte_range());
            text == variable
                || is_update
                || ["--", "++"]
                    .iter()
                    .any(|it| text.strip_prefix(it) == Some(variable))
        };
        let counts_down = |it: Node<'s>| {
            it.kind() == "update_expression"
                && self.text(it).replace(' ', "") == format!("{variable}--")
        };
        // `i-- > 0`, and `i--` for `i-- != 0`.
        let before;
        let (operator, bound) = if condition.kind() == "binary_expression" {
            let (left, right) = (
                self.field(condition, "left")?,
                self.field(condition, "right")?,
            );
            let operator = self.text(self.field(condition, "operator")?);
            before = counts_down(left);
            if is_counter(left) || before {
                (operator, self.affine(right))
            } else if let Some(ahead) = self.ahead(variable, left) {
                // `i + 4 <= n`
                let bound = self.affine(right);
                (operator, bound.and_then(|it| it.plus_constant(-ahead)))
            } else if is_counter(right) {
                let turned = match operator {
                    "<" => ">",
                    ">" => "<",
                    "<=" => ">=",
                    ">=" => "<=",
                    other => other,
                };
                (turned, self.affine(left))
            } else {
                return self.not_understood(node);
            }
        } else if counts_down(condition) || is_counter(condition) {
            before = counts_down(condition);
            ("!=", Some(Affine::constant(0)))
        } else {
            return self.not_understood(node);
        };
        let mut limit = None;
        let is_unsigned = self.loops.iter().any(|it| it.is_unsigned);
        let bound = bound.and_then(|it| match (it.as_constant(), operator) {
            (None, "<" | "<=") => {
                let (least, greatest) = shape::range(&it, &self.ranges())?;
                // Below zero, numbers without a sign are large.
                if least < 0 && is_unsigned {
                    return None;
                }
                limit = Some((if operator == "<" { "<" } else { "<=" }, it));
                Some(greatest)
            }
            (constant, _) => constant,
        });
        let Some(bound) = bound else {
            return self.refused(node, "ends where no number says");
        };
        let step = match update {
            None if before => -1,
            Some(update) if !before => match self.step(variable, update) {
                Some(step) => step,
                None => return self.not_understood(node),
            },
            _ => return self.not_understood(node),
        };
        // The old value is compared, the new one used.
        let start = if before { start - 1 } else { start };
        let bound = if before { bound - 1 } else { bound };
        let span = match (operator, step) {
            ("<", 1..) => bound - start,
            ("<=", 1..) => bound + 1 - start,
            ("!=", 1..) if (bound - start) % step == 0 => bound - start,
            (">", ..=-1) => start - bound,
            (">=", ..=-1) => start + 1 - bound,
            ("!=", ..=-1) if (start - bound) % step == 0 => start - bound,
            _ => return self.not_understood(node),
        };
        if EXTENT_LIMIT < span || EXTENT_LIMIT < start.abs() || operator == "!=" && span < 0 {
            return self.refused(node, "runs too long");
        }
        let trips = (span.max(0) + step.abs() - 1) / step.abs();
        let values = Values {
            least: start.min(start + (trips - 1) * step),
            trips,
            step: step.abs(),
            descends: step < 0,
            last: (!before && limit.is_none()).then_some(start + trips * step),
        };
        Ok((values, limit))
    }

    /// Returns how far ahead of a counter a sum is.
    pub(super) fn ahead(&self, variable: &str, node: Node<'s>) -> Option<i64> {
        let field = |name: &str| node.child_by_field_name(name);
        if node.kind() != "binary_expression" || self.text(field("left")?) != variable {
            return None;
        }
        let number = self.affine(field("right")?)?.as_constant()?;
        match self.text(field("operator")?) {
            "+" => Some(number),
            // Of a counter without a sign, less could be much more.
            _ => None,
        }
    }

    /// Returns the name of what an update or an assignment changes.
    pub(super) fn changes(&self, node: Node<'s>) -> Option<&'s str> {
        let mut fields = ["argument", "left"].into_iter();
        let changed = fields.find_map(|it| node.child_by_field_name(it))?;
        Some(self.text(changed))
    }

    pub(super) fn step(&self, variable: &str, update: Node<'s>) -> Option<i64> {
        let is_counter = |name: &str| {
            let place = update.child_by_field_name(name);
            place.is_some_and(|it| self.text(it) == variable)
        };
        let operator = self.text(update.child_by_field_name("operator")?);
        match update.kind() {
            "update_expression" if is_counter("argument") => {
                Some(if operator == "++" { 1 } else { -1 })
            }
            "assignment_expression" if is_counter("left") => {
                let right = update.child_by_field_name("right")?;
                let constant = |it: Node<'s>| self.affine(it)?.as_constant();
                match operator {
                    "+=" => constant(right),
                    "-=" => Some(-constant(right)?),
                    "=" if right.kind() == "binary_expression" => {
                        let (left, other) = (
                            right.child_by_field_name("left")?,
                            right.child_by_field_name("right")?,
                        );
                        match self.text(right.child_by_field_name("operator")?) {
                            "+" if self.text(left) == variable => constant(other),
                            "+" if self.text(other) == variable => constant(left),
                            "-" if self.text(left) == variable => Some(-constant(other)?),
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
        .filter(|step| (1..=EXTENT_LIMIT).contains(&step.abs()))
    }
}

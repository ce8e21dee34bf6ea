//! `if` around assignments: a choice between values.

use super::super::code::{Action, Element, Expression, Statement};
use super::super::wide::extreme;
use super::super::{pieces, shape};
use super::Reader;
use super::constants::number;
use super::expressions::negated;
use crate::refusal::Refusal;
use autocomp_c_loops::statement::Guard;
use autocomp_c_loops::syntax::children;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Reads the condition of an `if` around `continue`, if a statement is one.
    pub(super) fn skips(&mut self, node: Node<'s>) -> Result<Option<Expression>, Refusal> {
        if node.kind() != "if_statement" || node.child_by_field_name("alternative").is_some() {
            return Ok(None);
        }
        let mut inner = self.field(node, "consequence")?;
        if inner.kind() == "compound_statement" {
            match children(inner).as_slice() {
                [only] => inner = *only,
                _ => return Ok(None),
            }
        }
        match inner.kind() {
            "continue_statement" => {
                let condition = self.expression(self.field(node, "condition")?)?;
                Ok(Some(negated(condition)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn branch(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let place = self.field(node, "condition")?;
        // Known when the kernel is read: `if (N % 8 == 0)`.
        if let Some(holds) = self.known_condition(place) {
            let taken = match holds {
                true => Some(self.field(node, "consequence")?),
                false => node.child_by_field_name("alternative"),
            };
            if let Some(taken) = taken {
                to.extend(self.arm(taken)?);
            }
            return Ok(());
        }
        let condition = self.expression(place)?;
        to.append(&mut self.pending);
        let then = self.arm(self.field(node, "consequence")?)?;
        let otherwise = match node.child_by_field_name("alternative") {
            Some(alternative) => self.arm(alternative)?,
            None => Vec::new(),
        };
        let choices = self.choices(node, &condition, &then, &otherwise);
        to.extend(self.or_guarded(choices, &condition, then, otherwise)?);
        Ok(())
    }

    /// Returns `made`, or what it should have been made of below a condition: loops are cut there
    /// when the kernel is read.
    pub(super) fn or_guarded(
        &mut self,
        made: Result<Vec<Statement>, Refusal>,
        condition: &Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    ) -> Result<Vec<Statement>, Refusal> {
        match (made, pieces::condition(condition)) {
            (Err(why), Some(condition)) => {
                self.doubt.get_or_insert(why);
                Ok(vec![Statement::Guard(Guard {
                    condition,
                    then,
                    otherwise,
                })])
            }
            (made, _) => made,
        }
    }

    /// Returns what an `if` does, as choices between values.
    fn choices(
        &mut self,
        node: Node<'s>,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Result<Vec<Statement>, Refusal> {
        // Both ways to the same place are one assignment.
        if let (
            [
                Statement::Command(Action::Assign {
                    target,
                    operator,
                    value: one,
                }),
            ],
            [
                Statement::Command(Action::Assign {
                    target: same,
                    operator: alike,
                    value: other,
                }),
            ],
        ) = (then, otherwise)
            && target == same
            && operator == alike
        {
            if !self.may_always_read(condition, &[one, other]) {
                return self.refused(
                    node,
                    "reads what must not be read unless its condition holds",
                );
            }
            return Ok(vec![Statement::Command(Action::Assign {
                target: target.clone(),
                operator: *operator,
                value: chosen(condition, one, other),
            })]);
        }
        let opposite = negated(condition.clone());
        let then_changes = targets(then);
        let mut result = self.guarded(node, condition, then.to_vec())?;
        if !otherwise.is_empty() {
            if condition
                .reads()
                .iter()
                .any(|it| then_changes.contains(&it.name))
            {
                return self.refused(
                    node,
                    "changes what its condition depends on, before its `else`: where both cannot happen, write two `if`s",
                );
            }
            result.extend(self.guarded(node, &opposite, otherwise.to_vec())?);
        }
        Ok(result)
    }

    fn arm(&mut self, node: Node<'s>) -> Result<Vec<Statement>, Refusal> {
        let inner = match node.kind() {
            "else_clause" => match node.named_child(0) {
                Some(inner) => inner,
                None => return Ok(Vec::new()),
            },
            _ => node,
        };
        self.flat_block(inner)
    }

    /// Returns whether a condition holds, if it is the same in all iterations of the loops around.
    pub(super) fn known_condition(&self, node: Node<'s>) -> Option<bool> {
        match node.kind() {
            "parenthesized_expression" => self.known_condition(node.named_child(0)?),
            "binary_expression" => {
                let ranges = self.ranges();
                let side = |name: &str| {
                    let affine = self.affine(node.child_by_field_name(name)?)?;
                    let range = shape::range(&affine, &ranges)?;
                    // Numbers without a sign do not get below zero.
                    (range.0 == range.1 || 0 <= range.0).then_some((affine, range))
                };
                let ((left, one), (right, other)) = (side("left")?, side("right")?);
                let (least, most) = match left.minus(&right) {
                    Some(apart) => shape::range(&apart, &ranges)?,
                    None => (one.0.checked_sub(other.1)?, one.1.checked_sub(other.0)?),
                };
                let decided = |holds: bool, fails: bool| (holds || fails).then_some(holds);
                match self.text(node.child_by_field_name("operator")?) {
                    "<" => decided(most < 0, 0 <= least),
                    ">" => decided(0 < least, most <= 0),
                    "<=" => decided(most <= 0, 0 < least),
                    ">=" => decided(0 <= least, most < 0),
                    "==" => decided(least == 0 && most == 0, 0 < least || most < 0),
                    "!=" => decided(0 < least || most < 0, least == 0 && most == 0),
                    _ => None,
                }
            }
            _ => self.affine(node)?.as_constant().map(|it| it != 0),
        }
    }

    /// Returns statements that do something only where `condition` holds.
    pub(super) fn guarded(
        &mut self,
        node: Node<'s>,
        condition: &Expression,
        statements: Vec<Statement>,
    ) -> Result<Vec<Statement>, Refusal> {
        let statements = asked_last(condition, statements);
        let last = statements.len().saturating_sub(1);
        let mut result = Vec::new();
        for (idx, statement) in statements.into_iter().enumerate() {
            let Statement::Command(action) = statement else {
                return self.refused(node, "is an `if` around a loop");
            };
            let action = match action {
                Action::Declare { value, .. }
                    if value
                        .as_ref()
                        .is_some_and(|it| !self.may_always_read(condition, &[it])) =>
                {
                    return self.refused(
                        node,
                        "reads what must not be read unless its condition holds",
                    );
                }
                declared @ Action::Declare { .. } => declared,
                Action::Assign {
                    target,
                    operator,
                    value,
                } => {
                    let own = Expression::Element(target.clone());
                    if !self.may_always_read(condition, &[&value, &own]) {
                        return self.refused(
                            node,
                            "reads or writes what must not be touched unless its condition holds",
                        );
                    }
                    if idx < last && depends(condition, &target) {
                        return self.refused(node, "changes what its condition depends on");
                    }
                    let value = match operator {
                        None => self
                            .extreme_where(condition, &target, &value)
                            .unwrap_or_else(|| chosen(condition, &value, &own)),
                        Some('+' | '-') => chosen(condition, &value, &number(0)),
                        Some(_) => chosen(condition, &value, &number(1)),
                    };
                    Action::Assign {
                        target,
                        operator,
                        value,
                    }
                }
            };
            result.push(Statement::Command(action));
        }
        Ok(result)
    }
}

impl Reader<'_> {
    /// Returns the greatest or least of what is there and of a value that counts only where a
    /// condition holds, if an assignment is of that kind: where it does not, the value is one that
    /// changes nothing.
    fn extreme_where(
        &self,
        condition: &Expression,
        target: &Element,
        value: &Expression,
    ) -> Option<Expression> {
        let (greatest, other) = extreme(target, value)?;
        let named = |text: &str| Expression::Number(text.to_owned());
        let infinite = named("__builtin_inff()");
        let neutral = match (self.names.get(&target.name)?.kind.as_str(), greatest) {
            ("float", true) => Expression::Negative(Box::new(infinite)),
            ("float", false) => infinite,
            ("int32_t", true) => named("INT32_MIN"),
            ("int32_t", false) => named("INT32_MAX"),
            _ => return None,
        };
        let other = chosen(condition, &other, &neutral);
        let own = Expression::Element(target.clone());
        let operator = if greatest { ">" } else { "<" };
        let larger = Expression::Binary(
            Box::new(other.clone()),
            operator.into(),
            Box::new(own.clone()),
        );
        Some(chosen(&larger, &other, &own))
    }
}

/// Moves the assignment behind the others that changes what `condition` depends on, if they
/// can be made in this order.
fn asked_last(condition: &Expression, mut statements: Vec<Statement>) -> Vec<Statement> {
    let (mut asked, mut reads, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    for (idx, statement) in statements.iter().enumerate() {
        let Statement::Command(action) = statement else {
            return statements;
        };
        if let Action::Assign { target, .. } = action {
            if depends(condition, target) {
                asked.push((idx, target.name.clone(), names_of(action.reads())));
            }
            targets.push(target.name.clone());
        }
        reads.push(names_of(action.reads()));
    }
    let [(idx, name, own)] = asked.as_slice() else {
        return statements;
    };
    let behind = *idx + 1..statements.len();
    let is_free = targets.iter().filter(|it| *it == name).count() == 1
        && behind.clone().all(|it| !reads[it].contains(name))
        && targets[..].iter().all(|it| it == name || !own.contains(it))
        && statements[behind].iter().all(is_assignment);
    if is_free {
        let asked = statements.remove(*idx);
        statements.push(asked);
    }
    statements
}

fn is_assignment(statement: &Statement) -> bool {
    matches!(statement, Statement::Command(Action::Assign { .. }))
}

fn names_of(elements: Vec<&Element>) -> Vec<String> {
    elements.iter().map(|it| it.name.clone()).collect()
}

fn depends(condition: &Expression, target: &Element) -> bool {
    condition.reads().iter().any(|it| it.name == target.name)
}

fn targets(statements: &[Statement]) -> Vec<String> {
    let of = |statement: &Statement| match statement {
        Statement::Command(Action::Assign { target, .. }) => Some(target.name.clone()),
        _ => None,
    };
    statements.iter().filter_map(of).collect()
}

/// Returns one of two values.
pub(super) fn chosen(condition: &Expression, one: &Expression, other: &Expression) -> Expression {
    Expression::Choice(
        Box::new(condition.clone()),
        Box::new(one.clone()),
        Box::new(other.clone()),
    )
}

//! Statements.

use super::{Binding, Reader};
use crate::expression::{Expression, folded};
use crate::step::{Joining, Step, accumulated};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{block_statements, children};
use autocomp_nests::Refusal;
use tree_sitter::Node;

impl<'f> Reader<'f> {
    /// Reads a block; what it declares is forgotten behind it.
    pub(super) fn block(&mut self, node: Node<'f>, to: &mut Vec<Step>) -> Result<(), Refusal> {
        let outside = self.bindings.clone();
        let nodes = block_statements(node);
        self.depth += 1;
        self.sequence(&nodes, to)?;
        self.depth -= 1;
        self.bindings = outside;
        Ok(())
    }

    pub(super) fn sequence(
        &mut self,
        nodes: &[Node<'f>],
        to: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        for (at, node) in nodes.iter().enumerate() {
            // `if (…) return;` guards the rest; what stands before the `return` is done instead.
            if self.is_outermost()
                && node.kind() == "if_statement"
                && node.child_by_field_name("alternative").is_none()
                && let Some(before) = leaving(self.field(*node, "consequence")?)
            {
                let condition = self.expression(self.field(*node, "condition")?)?;
                to.append(&mut self.pending);
                let outside = self.bindings.clone();
                let (mut instead, mut rest) = (Vec::new(), Vec::new());
                self.depth += 1;
                self.sequence(&before, &mut instead)?;
                self.depth -= 1;
                self.bindings = outside;
                self.sequence(&nodes[at + 1..], &mut rest)?;
                to.push(match instead.is_empty() {
                    true => Step::If {
                        condition: negated(condition),
                        then: rest,
                        otherwise: Vec::new(),
                    },
                    false => Step::If {
                        condition,
                        then: instead,
                        otherwise: rest,
                    },
                });
                return Ok(());
            }
            self.statement(*node, to)?;
        }
        Ok(())
    }

    /// Returns whether what is read stands in the body of the kernel, in no block.
    fn is_outermost(&self) -> bool {
        self.depth == 1 && self.calls.is_empty()
    }

    fn statement(&mut self, node: Node<'f>, to: &mut Vec<Step>) -> Result<(), Refusal> {
        self.spend(node)?;
        let mut own = Vec::new();
        match node.kind() {
            "comment" | ";" => {}
            "declaration" => self.declaration(node, &mut own)?,
            "compound_statement" => self.block(node, &mut own)?,
            "expression_statement" => {
                if let Some(inner) = node.named_child(0) {
                    self.effect(inner, &mut own)?;
                }
            }
            "if_statement" => {
                let condition = self.expression(self.field(node, "condition")?)?;
                own.append(&mut self.pending);
                let mut then = Vec::new();
                let mut otherwise = Vec::new();
                self.block(self.field(node, "consequence")?, &mut then)?;
                if let Some(clause) = node.child_by_field_name("alternative") {
                    match clause.named_child(0) {
                        Some(inner) => self.block(inner, &mut otherwise)?,
                        None => return self.refused(clause, "is not understood"),
                    }
                }
                own.push(
                    as_extreme(&condition, &then, &otherwise).unwrap_or(Step::If {
                        condition,
                        then,
                        otherwise,
                    }),
                );
            }
            "for_statement" => self.counted(node, &mut own)?,
            "return_statement" if self.is_outermost() && node.next_named_sibling().is_none() => {}
            "return_statement" => {
                return self.refused(
                    node,
                    "leaves the kernel from inside a loop or a branch; write the rest as `else`",
                );
            }
            "while_statement" | "do_statement" => {
                return self.refused(node, "is a loop whose count is not seen; write it as `for`");
            }
            _ => return self.refused(node, "is not understood"),
        }
        to.append(&mut self.pending);
        to.append(&mut own);
        Ok(())
    }

    fn effect(&mut self, node: Node<'f>, to: &mut Vec<Step>) -> Result<(), Refusal> {
        match node.kind() {
            "assignment_expression" | "update_expression" => self.assignment(node, to),
            "comma_expression" => {
                for inner in children(node) {
                    self.effect(inner, to)?;
                }
                Ok(())
            }
            "call_expression" => {
                let name = self.text(self.field(node, "function")?);
                let arguments = children(self.field(node, "arguments")?);
                match (name, arguments.as_slice()) {
                    ("__syncthreads", []) => to.push(Step::Barrier),
                    ("atomicAdd" | "atomicMax" | "atomicMin", [at, value]) => {
                        let (array, index) = self.pointer(*at)?;
                        let value = self.expression(*value)?;
                        to.push(Step::Atomic {
                            function: name.to_owned(),
                            array,
                            index,
                            value,
                        });
                    }
                    _ => match self.functions.get(name).copied() {
                        Some(definition) => {
                            self.inlined(node, name, definition, &arguments)?;
                        }
                        None => return self.refused(node, "calls a function that is not known"),
                    },
                }
                Ok(())
            }
            _ => self.refused(node, "is not understood"),
        }
    }

    fn assignment(&mut self, node: Node<'f>, to: &mut Vec<Step>) -> Result<(), Refusal> {
        let is_update = node.kind() == "update_expression";
        let left = self.field(node, if is_update { "argument" } else { "left" })?;
        let operator = self.text(self.field(node, "operator")?);
        let operator = match operator {
            "=" => "",
            "++" => "+",
            "--" => "-",
            other => other.trim_end_matches('='),
        };
        let name = self.text(left);
        if let Some(Binding::Array(array, base, depth)) = self.bindings.get(name).cloned() {
            return self.moved(node, name, (array, base, depth), operator);
        }
        let value = match is_update {
            true => Expression::constant(1),
            false => self.expression(self.field(node, "right")?)?,
        };
        let joined = |old: Expression, value: Expression| match operator {
            "" => value,
            _ => folded(old, operator, value),
        };
        if left.kind() == "identifier" {
            let Some(Binding::Scalar(own)) = self.bindings.get(self.text(left)).cloned() else {
                return self.refused(node, "changes something that is no variable");
            };
            let value = joined(Expression::Scalar(own.clone()), value);
            to.append(&mut self.pending);
            to.push(Step::Assign { name: own, value });
            return Ok(());
        }
        let (array, index) = self.place(left)?;
        let old = Expression::Load(array.clone(), Box::new(index.clone()));
        let value = joined(old, value);
        to.append(&mut self.pending);
        to.push(Step::Store {
            array,
            index,
            value,
        });
        Ok(())
    }

    fn counted(&mut self, node: Node<'f>, to: &mut Vec<Step>) -> Result<(), Refusal> {
        const WHY: &str = "is a loop that does not count up by a number from one index to another";
        let Some(start) = node
            .child_by_field_name("initializer")
            .filter(|it| it.kind() == "declaration")
        else {
            return self.refused(node, "is a loop whose counter is not declared in it");
        };
        let declared: Vec<Node<'_>> = children(start)
            .into_iter()
            .filter(|it| it.kind() == "init_declarator")
            .collect();
        let [declared] = declared.as_slice() else {
            return self.refused(node, WHY);
        };
        let name = self.text(self.field(*declared, "declarator")?).to_owned();
        let first = self.expression(self.field(*declared, "value")?)?;
        let condition = self.field(node, "condition")?;
        let update = self.field(node, "update")?;
        let body = self.field(node, "body")?;
        if let Some(half) = self.halving(&name, &first, condition, update) {
            return self.tree(node, &name, half, body, to);
        }
        if condition.kind() != "binary_expression"
            || self.text(self.field(condition, "left")?) != name
        {
            return self.refused(node, WHY);
        }
        let operator = self.text(self.field(condition, "operator")?);
        let end = self.expression(self.field(condition, "right")?)?;
        let step = match update.kind() {
            "update_expression" if self.text(update).contains("++") => Some(1),
            "assignment_expression" if self.text(self.field(update, "operator")?) == "+=" => {
                let by = self.expression(self.field(update, "right")?)?;
                by.as_index().and_then(Affine::as_constant)
            }
            _ => None,
        };
        let is_own = self
            .text(update)
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|it| it == name);
        let end = match operator {
            "<" | "!=" => Some(end),
            "<=" => Some(folded(end, "+", Expression::constant(1))),
            _ => None,
        };
        let (Some(start), Some(end), Some(step)) = (
            first.as_index().cloned(),
            end.as_ref().and_then(Expression::as_index).cloned(),
            step.filter(|it| 0 < *it && is_own),
        ) else {
            return self.refused(node, WHY);
        };
        let outside = self.bindings.clone();
        let variable = self.fresh(&name);
        let value = Binding::Value(Expression::Index(Affine::variable(&variable)));
        self.bindings.insert(name, value);
        let walks = self.walks(body, (&variable, &start, step));
        let mut inner = Vec::new();
        self.block(body, &mut inner)?;
        self.bindings = outside;
        let all = end.minus(&start).and_then(|it| it.as_constant());
        self.walked(walks, all.map(|it| (it.max(0) + step - 1) / step));
        to.push(Step::Loop {
            variable,
            start,
            end,
            step,
            body: inner,
        });
        Ok(())
    }

    /// Returns what a counter begins with that is halved until it is nothing.
    fn halving(
        &self,
        name: &str,
        first: &Expression,
        condition: Node<'f>,
        update: Node<'f>,
    ) -> Option<i64> {
        let squeezed = |node: Node<'_>| -> String {
            self.text(node)
                .chars()
                .filter(|it| !it.is_whitespace())
                .collect()
        };
        let goes_on = [
            format!("{name}>0"),
            format!("{name}>=1"),
            format!("{name}!=0"),
            name.to_owned(),
        ];
        let halves = [
            format!("{name}/=2"),
            format!("{name}>>=1"),
            format!("{name}={name}/2"),
            format!("{name}={name}>>1"),
        ];
        let first = first.as_index()?.as_constant()?;
        let holds = goes_on.contains(&squeezed(condition)) && halves.contains(&squeezed(update));
        (holds && 0 < first && first.count_ones() == 1).then_some(first)
    }

    /// Reads a tree in shared memory: each thread below the counter joins its element with the
    /// one that many further on.
    fn tree(
        &mut self,
        node: Node<'f>,
        name: &str,
        half: i64,
        body: Node<'f>,
        to: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        const WHY: &str = "is a loop over halves and no sum or extreme of an array of the block";
        let outside = self.bindings.clone();
        let variable = self.fresh(name);
        let counter = Affine::variable(&variable);
        let value = Binding::Value(Expression::Index(counter.clone()));
        self.bindings.insert(name.to_owned(), value);
        let mut inner = Vec::new();
        self.block(body, &mut inner)?;
        self.bindings = outside;
        let mut inner = inner.as_slice();
        while let [rest @ .., Step::Barrier] = inner {
            inner = rest;
        }
        while let [Step::Barrier, rest @ ..] = inner {
            inner = rest;
        }
        let own = Affine::variable("tx");
        let [
            Step::If {
                condition,
                then,
                otherwise,
            },
        ] = inner
        else {
            return self.refused(node, WHY);
        };
        let wanted = folded(
            Expression::Index(own.clone()),
            "<",
            Expression::Index(counter.clone()),
        );
        let [
            Step::Store {
                array,
                index,
                value,
            },
        ] = then.as_slice()
        else {
            return self.refused(node, WHY);
        };
        let there = Expression::Index(own.clone());
        let beyond = own.plus(&counter).map(Expression::Index);
        let place = |it: &Expression| Expression::Load(array.clone(), Box::new(it.clone()));
        // The old value is looked at as a variable.
        let as_scalar =
            value.map(&|it| (*it == place(&there)).then(|| Expression::Scalar("own".into())));
        let joined = accumulated("own", &as_scalar);
        let joining: Option<Joining> = joined
            .filter(|(_, other)| beyond.as_ref().is_some_and(|it| **other == place(it)))
            .map(|(joining, _)| joining);
        let is_whole = self.block == [2 * half, 1, 1];
        match joining {
            Some(joining)
                if is_whole
                    && otherwise.is_empty()
                    && *condition == wanted
                    && *index == there
                    && self.shared.contains_key(array) =>
            {
                to.push(Step::Tree {
                    array: array.clone(),
                    joining,
                });
                Ok(())
            }
            _ => self.refused(node, WHY),
        }
    }
}

/// Returns what a statement does before it leaves by `return;`, if that is how it ends.
fn leaving(node: Node<'_>) -> Option<Vec<Node<'_>>> {
    match node.kind() {
        "return_statement" => node.named_child(0).is_none().then(Vec::new),
        "compound_statement" => {
            let mut before = children(node);
            let last = before.pop()?;
            before.extend(leaving(last)?);
            Some(before)
        }
        _ => None,
    }
}

/// Returns `if (x > top) top = x;` as `top = x > top ? x : top;`, which is looked at as an extreme.
fn as_extreme(condition: &Expression, then: &[Step], otherwise: &[Step]) -> Option<Step> {
    let ([Step::Assign { name, value }], []) = (then, otherwise) else {
        return None;
    };
    let own = Expression::Scalar(name.clone());
    let (condition, one) = (Box::new(condition.clone()), Box::new(value.clone()));
    let value = Expression::Choice(condition, one, Box::new(own));
    accumulated(name, &value)?;
    let name = name.clone();
    Some(Step::Assign { name, value })
}

/// Returns the opposite of a condition.
fn negated(condition: Expression) -> Expression {
    match &condition {
        Expression::Binary(left, operator, right) => {
            let other = match operator.as_str() {
                "<" => ">=",
                "<=" => ">",
                ">" => "<=",
                ">=" => "<",
                "==" => "!=",
                "!=" => "==",
                "||" => {
                    let (left, right) = (negated((**left).clone()), negated((**right).clone()));
                    return Expression::binary(left, "&&", right);
                }
                "&&" => {
                    let (left, right) = (negated((**left).clone()), negated((**right).clone()));
                    return Expression::binary(left, "||", right);
                }
                _ => return Expression::Sign('!', Box::new(condition)),
            };
            Expression::binary((**left).clone(), other, (**right).clone())
        }
        _ => Expression::Sign('!', Box::new(condition)),
    }
}

//! Reads statements: what runs, in order.

use super::Reader;
use super::loops::append;
use super::scope::{Binding, Entry, Obstacle, Quantity, Read};
use crate::condition::Condition;
use crate::kernel::{Guard, Statement};
use crate::syntax::{assigned_names, children};
use crate::value::Value;
use tree_sitter::Node;

/// How a list of statements ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// It runs to its end.
    Next,
    /// It goes on with the next iteration.
    Continue,
    /// It leaves the function, with a value.
    Done(Option<Quantity>),
}

impl<'tree> Reader<'tree> {
    /// Reads statements that follow each other.
    pub(super) fn run(&mut self, nodes: &[Node<'tree>], out: &mut Vec<Statement>) -> Read<Flow> {
        for (idx, node) in nodes.iter().enumerate() {
            match node.kind() {
                "continue_statement" => return Ok(Flow::Continue),
                "return_statement" => {
                    let value = children(*node)
                        .into_iter()
                        .find(|child| child.kind() != "comment");
                    let value = value.map(|value| self.quantity(value)).transpose()?;
                    out.append(&mut self.emitted);
                    return Ok(Flow::Done(value));
                }
                "if_statement" if self.jumps(*node, true) => {
                    return self.parted(*node, &nodes[idx + 1..], out);
                }
                "compound_statement" if self.jumps(*node, true) => {
                    let mut rest = children(*node);
                    if rest.iter().any(|inner| inner.kind() == "declaration") {
                        return self.unread(*node, "a block that is left early");
                    }
                    rest.extend(&nodes[idx + 1..]);
                    return self.run(&rest, out);
                }
                _ => self.statement(*node, out)?,
            }
        }
        Ok(Flow::Next)
    }

    /// Reads the statements of a block, or one statement, in a scope of their own.
    pub(super) fn block(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<Flow> {
        let depth = self.scope.len();
        let flow = match node.kind() {
            "compound_statement" => self.run(&children(node), out),
            _ => self.run(&[node], out),
        };
        self.scope.truncate(depth);
        flow
    }

    /// Reads a statement; what is not understood stays as it is.
    fn statement(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        let scope = self.scope.clone();
        let length = out.len();
        match self.understood(node, out) {
            Err(Obstacle::Unread(offset, reason)) if self.trial || self.depth == 0 => {
                self.emitted.clear();
                self.scope = scope;
                out.truncate(length);
                if self.trial {
                    for name in assigned_names(node, self.source) {
                        self.forget(&name, &reason);
                    }
                    return Ok(());
                }
                let text = self.verbatim(node)?;
                self.note(offset, reason);
                out.push(Statement::Opaque(text));
                Ok(())
            }
            other => other,
        }
    }

    /// Takes it that the value of a variable is not known.
    fn forget(&mut self, name: &str, reason: &str) {
        let floor = self.floor;
        let entry = self.scope[floor..].iter_mut().rev();
        let mut entry = entry.filter(|entry| entry.name == name);
        if let Some(entry) = entry.next()
            && matches!(entry.binding, Binding::Known(_))
        {
            entry.binding = Binding::Unknown(reason.to_owned());
        }
    }

    fn understood(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        self.tick()?;
        match node.kind() {
            "comment" => {
                out.push(Statement::Comment(self.text(node).to_owned()));
                Ok(())
            }
            "compound_statement" => self.block(node, out).map(|_| ()),
            "for_statement" | "while_statement" | "do_statement" => self.counted(node, out),
            "if_statement" => self.parted(node, &[], out).map(|_| ()),
            "declaration" => self.declaration(node, out),
            "enum_specifier" => self.enumeration(node),
            "expression_statement" => match node.named_child(0) {
                Some(expression) => {
                    self.expression(expression, out)?;
                    out.append(&mut self.emitted);
                    Ok(())
                }
                None => Ok(()),
            },
            "break_statement" => self.unread(node, "the loop is left early"),
            _ => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    fn expression(&mut self, node: Node<'tree>, out: &mut Vec<Statement>) -> Read<()> {
        match node.kind() {
            "comma_expression" => {
                let left = self.field(node, "left")?;
                let right = self.field(node, "right")?;
                self.expression(left, out)?;
                self.expression(right, out)
            }
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.expression(inner, out),
                None => Ok(()),
            },
            "call_expression" => self.call(node, out),
            "cast_expression" if self.text(node).replace(' ', "").starts_with("(void)") => {
                let inner = self.field(node, "value")?;
                match inner.kind() {
                    "call_expression" => self.call(inner, out),
                    _ => Ok(()),
                }
            }
            "conditional_expression" => {
                let condition = self.field(node, "condition")?;
                let condition = self.condition(condition)?;
                let then = self.field(node, "consequence")?;
                let otherwise = self.field(node, "alternative")?;
                self.either(
                    node,
                    condition,
                    &mut |reader, out| reader.expression(then, out).map(|()| Flow::Next),
                    &mut |reader, out| reader.expression(otherwise, out).map(|()| Flow::Next),
                    out,
                )
                .map(|_| ())
            }
            _ => self.quantity(node).map(|_| ()),
        }
    }

    /// Reads an `if` and the statements behind it, which belong to the
    /// branches that do not jump.
    fn parted(
        &mut self,
        node: Node<'tree>,
        rest: &[Node<'tree>],
        out: &mut Vec<Statement>,
    ) -> Read<Flow> {
        let condition = self.field(node, "condition")?;
        let condition = self.condition(condition)?;
        let then = self.field(node, "consequence")?;
        let alternative = node.child_by_field_name("alternative");
        let otherwise: Vec<Node<'tree>> = alternative.map(children).unwrap_or_default();
        let rest = rest.to_vec();
        self.either(
            node,
            condition,
            &mut |reader, out| reader.sequence(&[then], &rest, out),
            &mut |reader, out| reader.sequence(&otherwise, &rest, out),
            out,
        )
    }

    /// Reads a branch and what follows it.
    fn sequence(
        &mut self,
        branch: &[Node<'tree>],
        rest: &[Node<'tree>],
        out: &mut Vec<Statement>,
    ) -> Read<Flow> {
        let depth = self.scope.len();
        if branch.iter().any(|node| self.jumps(*node, true)) {
            let mut nodes = Vec::new();
            for node in branch {
                match node.kind() {
                    "compound_statement" => nodes.extend(children(*node)),
                    _ => nodes.push(*node),
                }
            }
            let declares = nodes.iter().find(|node| node.kind() == "declaration");
            if let Some(node) = declares
                && !rest.is_empty()
            {
                return self.unread(*node, "a block with variables of its own is left early");
            }
            nodes.extend(rest);
            let flow = self.run(&nodes, out);
            self.scope.truncate(depth);
            return flow;
        }
        for node in branch {
            self.block(*node, out)?;
        }
        let flow = self.run(rest, out);
        self.scope.truncate(depth);
        flow
    }

    /// Reads one of two ways, or both under a guard.
    #[allow(clippy::type_complexity, reason = "two functions of the same kind")]
    fn either(
        &mut self,
        node: Node<'tree>,
        condition: Condition,
        then: &mut dyn FnMut(&mut Self, &mut Vec<Statement>) -> Read<Flow>,
        otherwise: &mut dyn FnMut(&mut Self, &mut Vec<Statement>) -> Read<Flow>,
        out: &mut Vec<Statement>,
    ) -> Read<Flow> {
        match condition {
            Condition::Constant(true) => return then(self, out),
            Condition::Constant(false) => return otherwise(self, out),
            _ => {}
        }
        let before = self.scope.clone();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let one = then(self, &mut first)?;
        let after = std::mem::replace(&mut self.scope, before);
        let depth = self.scope.len();
        let two = otherwise(self, &mut second)?;
        self.scope.truncate(depth);
        for (place, then) in after.into_iter().take(depth).enumerate() {
            let merged = self.merged(node, &condition, then, self.scope[place].clone())?;
            self.scope[place].binding = merged;
        }
        let flow = match (one, two) {
            (Flow::Done(Some(one)), Flow::Done(Some(two))) => {
                Flow::Done(Some(self.chosen(node, &condition, &one, &two)?))
            }
            (Flow::Done(None), _) | (_, Flow::Done(None)) => Flow::Done(None),
            (Flow::Done(_), _) | (_, Flow::Done(_)) => {
                return self.unread(node, "a value is returned in one case only");
            }
            (Flow::Next, Flow::Next) => Flow::Next,
            _ => Flow::Continue,
        };
        let idle = |statements: &[Statement]| {
            statements
                .iter()
                .all(|statement| matches!(statement, Statement::Comment(_)))
        };
        match (idle(&first), idle(&second)) {
            (true, true) => {}
            (true, false) => append(
                out,
                vec![Statement::Guard(Guard {
                    condition: condition.negate(),
                    then: second,
                    otherwise: Vec::new(),
                })],
            ),
            (false, idle) => append(
                out,
                vec![Statement::Guard(Guard {
                    condition,
                    then: first,
                    otherwise: if idle { Vec::new() } else { second },
                })],
            ),
        }
        Ok(flow)
    }

    /// Returns what is known of a name after one of two ways.
    fn merged(
        &self,
        node: Node<'_>,
        condition: &Condition,
        then: Entry,
        otherwise: Entry,
    ) -> Read<Binding> {
        if then.binding == otherwise.binding {
            return Ok(then.binding);
        }
        let (Binding::Known(one), Binding::Known(two)) = (&then.binding, &otherwise.binding) else {
            let reason = "it has a value in one case only".to_owned();
            return Ok(Binding::Unknown(reason));
        };
        match self.chosen(node, condition, one, two) {
            Ok(quantity) => Ok(Binding::Known(quantity)),
            Err(Obstacle::Unread(_, reason)) => Ok(Binding::Unknown(reason)),
            Err(other) => Err(other),
        }
    }

    /// Reads an assignment; returns its value as an expression.
    pub(super) fn assignment(&mut self, node: Node<'tree>) -> Read<Quantity> {
        let update = node.kind() == "update_expression";
        let target = self.field(node, if update { "argument" } else { "left" })?;
        let mut target = target;
        while target.kind() == "parenthesized_expression"
            && let Some(inner) = target.named_child(0)
        {
            target = inner;
        }
        let name = self.text(target);
        let place = self.scope[self.floor..]
            .iter()
            .rposition(|entry| target.kind() == "identifier" && entry.name == name)
            .map(|place| place + self.floor);
        let Some(place) = place else {
            return self.unread(node, format!("the core writes `{}`", self.short(target)));
        };
        if let Binding::Kept(reason) = &self.scope[place].binding {
            return self.unread(node, format!("`{name}` is not followed: {reason}"));
        }
        let operator = self.operator(node);
        if let Some(orbit) = self.scope[place].orbit {
            let old = self.quantity(target)?;
            let own = update || operator != "=" || self.names_in(node) > 1;
            let count = match own {
                true => match &self.scope[place].binding {
                    Binding::Known(count) => {
                        let one = Quantity::Integer(Value::constant(1));
                        Some(self.combined(node, "+", count.clone(), one)?)
                    }
                    _ => None,
                },
                false => {
                    let right = self.field(node, "right")?;
                    let value = self.constant(right)?;
                    orbit
                        .count(value)
                        .map(|count| Quantity::Integer(Value::constant(count)))
                }
            };
            let Some(count) = count else {
                return self.unread(node, format!("`{name}` changes in too many ways"));
            };
            self.scope[place].binding = Binding::Known(count);
            return match update {
                true => Ok(old),
                false => self.quantity(target),
            };
        }
        if update {
            let old = self.quantity(target)?;
            let one = Quantity::Integer(Value::constant(1));
            let sign = if operator == "++" { "+" } else { "-" };
            let new = self.combined(node, sign, old.clone(), one)?;
            self.scope[place].binding = Binding::Known(new.clone());
            let prefix = node
                .child(0)
                .is_some_and(|child| child != target && !child.is_named());
            return Ok(if prefix { new } else { old });
        }
        let right = self.field(node, "right")?;
        let value = match self.quantity(right) {
            Err(Obstacle::Unread(_, reason)) if !calls(right) => {
                // Only what needs the value suffers.
                self.scope[place].binding = Binding::Unknown(reason);
                return Ok(Quantity::Table(Vec::new(), Vec::new()));
            }
            other => other?,
        };
        let value = match operator.strip_suffix('=') {
            Some("") | None => value,
            Some(operator) => {
                let old = self.quantity(target)?;
                self.combined(node, operator, old, value)?
            }
        };
        let value = match (&self.scope[place].binding, value) {
            (Binding::Known(Quantity::Pointer(old)), Quantity::Pointer(mut new))
                if old.array == new.array =>
            {
                (new.level, new.bytes) = (old.level, old.bytes);
                Quantity::Pointer(new)
            }
            (_, value) => value,
        };
        self.scope[place].binding = Binding::Known(value.clone());
        Ok(value)
    }

    /// Returns how often the variable that an assignment changes is named in it.
    fn names_in(&self, node: Node<'tree>) -> usize {
        let target = node
            .child_by_field_name("left")
            .or_else(|| node.child_by_field_name("argument"));
        let name = target.map_or("", |target| self.text(target));
        let mut count = 0;
        let mut pending = vec![node];
        while let Some(inner) = pending.pop() {
            count += usize::from(inner.kind() == "identifier" && self.text(inner) == name);
            pending.extend(children(inner));
        }
        count
    }
}

/// Returns whether something below `node` may call a function.
pub(super) fn calls(node: Node<'_>) -> bool {
    node.kind() == "call_expression" || children(node).into_iter().any(calls)
}

//! Functions of the kernel's own, put where they are called.

use super::super::code::{Expression, Index, Statement};
use super::branches::chosen;
use super::constants::is_index;
use super::{Binding, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::syntax::{block_statements, children};
use tree_sitter::Node;

/// The largest value that a function may become, in operands.
const MOST_OPERANDS: usize = 200;

/// The largest value of a function whose statements need not stand in front of its call.
const FEW_OPERANDS: usize = 60;

/// Why a function is not read that returns before its end.
const FROM_WITHIN: &str =
    "calls a function that returns before its end: choose values, and return once";

impl<'s> Reader<'s> {
    pub(super) fn function_name(&self, function: Node<'s>) -> Result<String, Refusal> {
        let declarator = self.field(function, "declarator")?;
        match declarator.kind() {
            "function_declarator" => {
                Ok(self.text(self.field(declarator, "declarator")?).to_owned())
            }
            _ => self.not_understood(function),
        }
    }

    /// Binds the parameters of a function to what a call gives it, and returns its
    /// body. The caller puts names and bindings back.
    fn enter(&mut self, node: Node<'s>, callee: &str) -> Result<Node<'s>, Refusal> {
        if self.calls.iter().any(|it| it == callee) {
            return self.refused(node, "calls itself");
        }
        let function = match self.functions.get(callee) {
            Some(function) => *function,
            None => return self.not_understood(node),
        };
        let declarator = self.field(function, "declarator")?;
        let parameters: Vec<Node<'s>> = children(self.field(declarator, "parameters")?)
            .into_iter()
            .filter(|it| self.text(*it) != "void")
            .collect();
        let arguments = children(self.field(node, "arguments")?);
        if parameters.len() != arguments.len() {
            return self.not_understood(node);
        }
        let mut bindings = self.globals.clone();
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            let kind = self.kind(parameter)?;
            let declared = self.declarator(self.field(parameter, "declarator")?)?;
            let bound = match declared.extents {
                Some(extents) => match self.place(argument) {
                    // Both sides have to see the same dimensions.
                    Some(place)
                        if self.names.get(&place.name).is_some_and(|it| {
                            let dimensions = match place.rows.len() {
                                0 => it.extents.len() - place.lead.len(),
                                rows => rows + 1,
                            };
                            dimensions == extents.len()
                        }) =>
                    {
                        Binding::Pointer(place)
                    }
                    _ => {
                        return self.refused(
                            argument,
                            "is a pointer that is not followed; write an index",
                        );
                    }
                },
                None => match self.affine(argument) {
                    Some(affine) if is_index(&kind) => Binding::Index(affine),
                    _ => Binding::Value(self.expression(argument)?),
                },
            };
            bindings.insert(declared.name.to_owned(), bound);
        }
        self.bindings = bindings;
        self.calls.push(callee.to_owned());
        self.field(function, "body")
    }

    /// Reads a call for what it does: `memset`, and functions of the kernel's own.
    pub(super) fn call_for_effect(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let callee = self
            .text(self.field(node, "function")?)
            .trim_start_matches("__builtin_");
        if callee == "memset" {
            return self.cleared(node, to);
        }
        let outside = (self.names.clone(), self.bindings.clone());
        let body = self.enter(node, callee)?;
        let mut nodes = children(body);
        if let Some(last) = nodes.last()
            && last.kind() == "return_statement"
            && last.named_child(0).is_none()
        {
            nodes.pop();
        }
        self.flat += 1;
        let read = self.sequence(&nodes, to);
        self.flat -= 1;
        self.calls.pop();
        (self.names, self.bindings) = outside;
        read
    }

    /// Reads `memset(x, 0, sizeof x)` of a whole array.
    fn cleared(&mut self, node: Node<'s>, to: &mut Vec<Statement>) -> Result<(), Refusal> {
        let arguments = children(self.field(node, "arguments")?);
        let [array, value, bytes] = arguments.as_slice() else {
            return self.not_understood(node);
        };
        let place = self.place(*array);
        let constant = |it: Node<'s>| self.affine(it).and_then(|it| it.as_constant());
        let (Some(place), Some(0), Some(bytes)) = (place, constant(*value), constant(*bytes))
        else {
            return self.not_understood(node);
        };
        let Some(named) = self.names.get(&place.name).cloned() else {
            return self.not_understood(node);
        };
        let size = match named.kind.as_str() {
            "int8_t" | "uint8_t" => 1,
            "int16_t" | "uint16_t" | "_Float16" => 2,
            "double" | "int64_t" | "uint64_t" => 8,
            _ => 4,
        };
        let zero = autocomp_c_loops::affine::Affine::constant(0);
        let first = Index::Affine(zero.clone());
        let at_start = place.offset == zero && place.lead.iter().all(|it| *it == first);
        let inner: Option<i64> = named.extents[1..]
            .iter()
            .try_fold(size, |a: i64, b| a.checked_mul(*b));
        let Some(row) = inner.filter(|row| at_start && bytes % row == 0) else {
            return self.refused(node, "clears a part of an array");
        };
        let mut extents = named.extents.clone();
        extents[0] = bytes / row;
        if named.extents[0] < extents[0] || extents[0] < 1 {
            return self.not_understood(node);
        }
        let filled = self.filled(&place.name, &extents, Expression::Number("0".into()));
        to.push(filled);
        Ok(())
    }

    /// Reads a call of a function of the kernel's own for its value.
    pub(super) fn call_for_value(
        &mut self,
        node: Node<'s>,
        callee: &str,
    ) -> Result<Expression, Refusal> {
        let kind = match self.functions.get(callee) {
            Some(function) => self.kind(*function)?,
            None => return self.not_understood(node),
        };
        if let Some(function) = self.functions.get(callee).copied()
            && let [argument] = children(self.field(node, "arguments")?)[..]
            && let Some(name) = self.bits(function)
        {
            let argument = self.expression(argument)?;
            return Ok(Expression::Call(name.to_owned(), vec![argument]));
        }
        let outside = (self.names.clone(), self.bindings.clone());
        let body = self.enter(node, callee)?;
        let nodes = children(body);
        let entered = self.bindings.clone();
        let value = match self.straight(&nodes) {
            Ok(Some(value)) if operands(&value) <= FEW_OPERANDS => Ok(value),
            Ok(None) => self.refused(node, "gives no value"),
            // With loops in it, or too long for one value: what it does comes first.
            straight => {
                self.bindings = entered;
                self.flat += 1;
                let pending = self.pending.clone();
                let value = self.with_loops(node, &nodes);
                self.flat -= 1;
                match (value, straight) {
                    (Err(_), Ok(Some(value))) => {
                        self.pending = pending;
                        Ok(value)
                    }
                    // What hinders it says more than where it returns.
                    (Err(within), Err(why)) if within.why.starts_with(FROM_WITHIN) => Err(why),
                    (value, _) => value,
                }
            }
        };
        self.calls.pop();
        (self.names, self.bindings) = outside;
        let value = value?;
        if MOST_OPERANDS < operands(&value) {
            return self.refused(node, "becomes too long");
        }
        let whole =
            is_index(&kind) && !matches!(value, Expression::Index(_) | Expression::Number(_));
        Ok(match whole || kind.starts_with("int") && !is_index(&kind) {
            true => Expression::Cast(kind, Box::new(value)),
            false => value,
        })
    }

    fn with_loops(&mut self, node: Node<'s>, nodes: &[Node<'s>]) -> Result<Expression, Refusal> {
        let Some((last, rest)) = nodes.split_last() else {
            return self.not_understood(node);
        };
        let value = match last.named_child(0) {
            Some(value) if last.kind() == "return_statement" => value,
            _ => return self.refused(node, FROM_WITHIN),
        };
        // What it needs stands in front of what it does.
        let mut before = std::mem::take(&mut self.pending);
        self.sequence(rest, &mut before)?;
        let value = self.expression(value)?;
        before.append(&mut self.pending);
        self.pending = before;
        Ok(value)
    }

    /// Follows statements without loops and returns what they return; nothing if
    /// they run to their end.
    fn straight(&mut self, nodes: &[Node<'s>]) -> Result<Option<Expression>, Refusal> {
        for (idx, node) in nodes.iter().enumerate() {
            match node.kind() {
                "comment" | ";" => {}
                "return_statement" => {
                    return match node.named_child(0) {
                        Some(value) => self.expression(value).map(Some),
                        None => self.not_understood(*node),
                    };
                }
                "compound_statement" => {
                    let all = [children(*node).as_slice(), &nodes[idx + 1..]].concat();
                    return self.straight(&all);
                }
                "declaration" => self.straight_declaration(*node)?,
                "expression_statement" => self.straight_assignment(*node)?,
                "if_statement" => {
                    let condition = self.expression(self.field(*node, "condition")?)?;
                    let arm = |it: Node<'s>| match it.kind() {
                        "else_clause" => it.named_child(0).into_iter().collect(),
                        _ => block_statements(it),
                    };
                    let rest = &nodes[idx + 1..];
                    let before = self.bindings.clone();
                    let then = [arm(self.field(*node, "consequence")?).as_slice(), rest].concat();
                    let otherwise = match node.child_by_field_name("alternative") {
                        Some(alternative) => [arm(alternative).as_slice(), rest].concat(),
                        None => rest.to_vec(),
                    };
                    let one = self.straight(&then)?;
                    self.bindings = before;
                    let other = self.straight(&otherwise)?;
                    return match (one, other) {
                        (Some(one), Some(other))
                            if self.may_always_read(&condition, &[&one, &other]) =>
                        {
                            Ok(Some(chosen(&condition, &one, &other)))
                        }
                        _ => self.not_understood(*node),
                    };
                }
                _ => return self.not_understood(*node),
            }
        }
        Ok(None)
    }

    fn straight_declaration(&mut self, node: Node<'s>) -> Result<(), Refusal> {
        let kind = self.kind(node)?;
        let mut cursor = node.walk();
        let declarators: Vec<Node<'s>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            let value = declarator.child_by_field_name("value");
            let (name, value) = match (declarator.kind(), value) {
                ("init_declarator", Some(value)) => (self.field(declarator, "declarator")?, value),
                _ => return self.not_understood(node),
            };
            if name.kind() != "identifier" {
                return self.not_understood(node);
            }
            let bound = match self.affine(value) {
                Some(affine) if is_index(&kind) => Binding::Index(affine),
                _ => {
                    let value = self.expression(value)?;
                    let is_float = self.is_float(&value);
                    let keeps = match kind.as_str() {
                        "float" | "double" => is_float,
                        kind => is_index(kind) && !is_float,
                    };
                    Binding::Value(match keeps {
                        true => value,
                        false => Expression::Cast(kind.clone(), Box::new(value)),
                    })
                }
            };
            self.bindings.insert(self.text(name).to_owned(), bound);
        }
        Ok(())
    }

    /// Returns whether a value has a point, as C sees it.
    fn is_float(&self, value: &Expression) -> bool {
        match value {
            Expression::Number(text) => text.contains(['.', 'e', 'E']) && !text.starts_with("0x"),
            Expression::Index(_) => false,
            Expression::Element(element) => self
                .all
                .get(&element.name)
                .is_some_and(|it| !it.kind.contains("int")),
            Expression::Negative(inner) => self.is_float(inner),
            Expression::Cast(kind, _) => !kind.contains("int"),
            Expression::Binary(left, operator, right) => {
                ["+", "-", "*", "/"].contains(&operator.as_str())
                    && (self.is_float(left) || self.is_float(right))
            }
            Expression::Choice(_, one, other) => self.is_float(one) || self.is_float(other),
            Expression::Call(name, _) => name != "each_bits_of_float",
        }
    }

    fn straight_assignment(&mut self, node: Node<'s>) -> Result<(), Refusal> {
        let inner = match node.named_child(0) {
            Some(inner) if inner.kind() == "assignment_expression" => inner,
            _ => return self.not_understood(node),
        };
        let name = self.text(self.field(inner, "left")?);
        let old = match self.bindings.get(name) {
            Some(Binding::Value(value)) if !self.globals.contains_key(name) => value.clone(),
            _ => return self.not_understood(node),
        };
        let value = self.expression(self.field(inner, "right")?)?;
        let operator = self.text(self.field(inner, "operator")?);
        let value = match operator.strip_suffix('=') {
            Some("") => value,
            Some(operator @ ("+" | "-" | "*" | "/")) => {
                Expression::Binary(Box::new(old), operator.to_owned(), Box::new(value))
            }
            _ => return self.not_understood(node),
        };
        if MOST_OPERANDS < operands(&value) {
            return self.refused(node, "becomes too long");
        }
        self.bindings.insert(name.to_owned(), Binding::Value(value));
        Ok(())
    }
}

/// Returns how many operands an expression has.
fn operands(expression: &Expression) -> usize {
    match expression {
        Expression::Number(_) | Expression::Index(_) | Expression::Element(_) => 1,
        Expression::Negative(inner) | Expression::Cast(_, inner) => operands(inner),
        Expression::Binary(left, _, right) => operands(left) + operands(right),
        Expression::Choice(condition, one, other) => [condition, one, other]
            .into_iter()
            .map(|it| operands(it))
            .sum(),
        Expression::Call(_, arguments) => arguments.iter().map(operands).sum(),
    }
}

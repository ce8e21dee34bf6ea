//! Reads statements.

use super::Reason;
use super::program::{Expression, Statement};
use super::read::Reader;
use crate::syntax::children;
use tree_sitter::Node;

impl<'source> Reader<'source> {
    pub(super) fn block(&mut self, node: Node<'source>) -> Result<Vec<Statement>, Reason> {
        let depth = self.scope.len();
        let mut statements = Vec::new();
        for child in children(node) {
            statements.extend(self.statement(child)?);
        }
        self.scope.truncate(depth);
        Ok(statements)
    }

    fn inner(&mut self, node: Option<Node<'source>>) -> Result<Vec<Statement>, Reason> {
        let depth = self.scope.len();
        let result = node.map_or(Ok(Vec::new()), |node| self.statement(node));
        self.scope.truncate(depth);
        result
    }

    pub(super) fn statement(&mut self, node: Node<'source>) -> Result<Vec<Statement>, Reason> {
        Ok(match node.kind() {
            "comment" | ";" => Vec::new(),
            "enum_specifier" => {
                self.enumerators(node);
                Vec::new()
            }
            "compound_statement" => vec![Statement::Block(self.block(node)?)],
            "declaration" => self.declaration(node, false)?,
            "expression_statement" => match children(node)
                .into_iter()
                .find(|child| child.kind() != "comment")
            {
                Some(inner) => vec![Statement::Expression(self.expression(inner)?.0)],
                None => Vec::new(),
            },
            "if_statement" => {
                let condition = self.field(node, "condition")?;
                let then = self.inner(node.child_by_field_name("consequence"))?;
                let otherwise = node
                    .child_by_field_name("alternative")
                    .and_then(|clause| children(clause).into_iter().next());
                let otherwise = self.inner(otherwise)?;
                vec![Statement::If(condition, then, otherwise)]
            }
            "while_statement" | "do_statement" => {
                let condition = Some(self.field(node, "condition")?);
                vec![Statement::Loop {
                    condition,
                    after: node.kind() == "do_statement",
                    step: None,
                    body: self.inner(node.child_by_field_name("body"))?,
                }]
            }
            "for_statement" => {
                let depth = self.scope.len();
                let mut statements = match node.child_by_field_name("initializer") {
                    Some(first) if first.kind() == "declaration" => {
                        self.declaration(first, false)?
                    }
                    Some(first) => vec![Statement::Expression(self.expression(first)?.0)],
                    None => Vec::new(),
                };
                let optional = |reader: &mut Self, field| {
                    node.child_by_field_name(field)
                        .map(|part| reader.expression(part).map(|(part, _)| part))
                        .transpose()
                };
                let condition = optional(self, "condition")?;
                let step = optional(self, "update")?;
                let body = self.inner(node.child_by_field_name("body"))?;
                self.scope.truncate(depth);
                statements.push(Statement::Loop {
                    condition,
                    after: false,
                    step,
                    body,
                });
                vec![Statement::Block(statements)]
            }
            "return_statement" => {
                let value = children(node).into_iter().next();
                let value = value.map(|value| self.expression(value)).transpose()?;
                vec![Statement::Return(value.map(|(value, _)| value))]
            }
            "break_statement" => vec![Statement::Break],
            "continue_statement" => vec![Statement::Continue],
            _ => return Err(self.refuse(node, "a statement of another kind")),
        })
    }

    fn field(&mut self, node: Node<'source>, field: &str) -> Result<Expression, Reason> {
        let part = node
            .child_by_field_name(field)
            .ok_or_else(|| self.refuse(node, "something is missing"))?;
        Ok(self.expression(part)?.0)
    }

    /// Returns the value of an integer that must be known while reading.
    pub(super) fn constant(&mut self, node: Node<'source>) -> Option<i64> {
        match self.expression(node).ok()?.0 {
            Expression::Integer(value) => Some(value),
            _ => None,
        }
    }
}

//! Reads a plain kernel: counted loops around declarations and assignments.

mod expressions;

use super::code::{Action, Expression, Loop, Named, Program, Statement};
use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// The longest source that is read, in bytes.
const SOURCE_LIMIT: usize = 1 << 16;
/// Greatest bound of a loop, and size of a dimension.
const EXTENT_LIMIT: i64 = 1 << 24;

/// Reads `source`.
///
/// # Errors
/// What is not as it has to be, in a sentence for people.
pub(super) fn read(source: &str) -> Result<Program, String> {
    if SOURCE_LIMIT < source.len() {
        return Err("the kernel is too long".into());
    }
    let tree = syntax_tree(source).ok_or("the kernel does not parse")?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err("the kernel does not parse as C".into());
    }
    let mut definitions = Vec::new();
    for node in children(root) {
        match node.kind() {
            "comment" => {}
            "function_definition" => definitions.push(node),
            kind => {
                return Err(format!(
                    "there is more in the file than a function and comments: {kind}"
                ));
            }
        }
    }
    let [function] = definitions.as_slice() else {
        return Err("there is not exactly one function".into());
    };
    let body = function
        .child_by_field_name("body")
        .ok_or("the function has no body")?;
    let mut reader = Reader {
        source,
        names: BTreeMap::new(),
        all: BTreeMap::new(),
        loops: Vec::new(),
    };
    reader.parameters(*function)?;
    let statements = reader.block(body)?;
    Ok(Program {
        head: source[function.start_byte()..body.start_byte()]
            .trim_end()
            .to_owned(),
        names: reader.all,
        body: statements,
    })
}

struct Reader<'s> {
    source: &'s str,
    /// Parameters and declared variables; no two may have one name.
    names: BTreeMap<String, Named>,
    /// The same, of all blocks.
    all: BTreeMap<String, Named>,
    /// Variables of the loops around.
    loops: Vec<String>,
}

impl<'s> Reader<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn field<'tree>(&self, node: Node<'tree>, name: &str) -> Result<Node<'tree>, String> {
        match node.child_by_field_name(name) {
            Some(field) => Ok(field),
            None => self.not_understood(node),
        }
    }

    fn not_understood<T>(&self, node: Node<'_>) -> Result<T, String> {
        self.refused(node, "is not understood")
    }

    fn refused<T>(&self, node: Node<'_>, why: &str) -> Result<T, String> {
        let line = 1 + node.start_position().row;
        let first = self.text(node).lines().next().unwrap_or("");
        let shown: String = first.chars().take(60).collect();
        Err(format!("line {line} {why}: {shown}"))
    }

    fn declare(&mut self, node: Node<'_>, name: &str, named: Named) -> Result<(), String> {
        if is_reserved(name) {
            return self.refused(node, &format!("uses the name `{name}`, which is wanted"));
        }
        // One name means one thing wherever it is declared.
        let other = self.all.get(name).is_some_and(|known| *known != named);
        self.all.insert(name.to_owned(), named.clone());
        if other
            || self.loops.iter().any(|it| it == name)
            || self.names.insert(name.to_owned(), named).is_some()
        {
            return self.refused(node, &format!("declares `{name}` a second time"));
        }
        Ok(())
    }

    /// Reads `x[4][n]` and returns the name and the sizes.
    fn declarator(&self, node: Node<'_>) -> Result<(&'s str, Vec<i64>), String> {
        let mut extents = Vec::new();
        let mut inner = node;
        while inner.kind() == "array_declarator" {
            let size = self.field(inner, "size")?;
            match self.text(size).parse::<i64>() {
                Ok(extent) if (1..=EXTENT_LIMIT).contains(&extent) => extents.push(extent),
                _ => return self.not_understood(node),
            }
            inner = self.field(inner, "declarator")?;
        }
        extents.reverse();
        match inner.kind() {
            "identifier" => Ok((self.text(inner), extents)),
            _ => self.not_understood(node),
        }
    }

    fn parameters(&mut self, function: Node<'_>) -> Result<(), String> {
        let declarator = self.field(function, "declarator")?;
        let list = declarator
            .child_by_field_name("parameters")
            .ok_or("the function has no parameters")?;
        for parameter in children(list) {
            let kind = self.text(self.field(parameter, "type")?).to_owned();
            let (name, extents) = self.declarator(self.field(parameter, "declarator")?)?;
            if extents.is_empty() {
                return self.not_understood(parameter);
            }
            self.declare(parameter, name, Named { kind, extents })?;
        }
        Ok(())
    }

    fn block(&mut self, block: Node<'_>) -> Result<Vec<Statement>, String> {
        let nodes = match block.kind() {
            "compound_statement" => children(block),
            _ => vec![block],
        };
        let mut statements = Vec::new();
        for node in nodes {
            self.statement(node, &mut statements)?;
        }
        match statements.is_empty() {
            true => self.refused(block, "has nothing in its braces"),
            false => Ok(statements),
        }
    }

    fn statement(&mut self, node: Node<'_>, statements: &mut Vec<Statement>) -> Result<(), String> {
        match node.kind() {
            "comment" => {}
            "for_statement" => statements.push(Statement::Loop(self.counted(node)?)),
            "declaration" => self.declaration(node, statements)?,
            "expression_statement" => match node.named_child(0) {
                Some(inner) => statements.push(Statement::Command(self.assignment(inner)?)),
                None => return self.not_understood(node),
            },
            _ => return self.not_understood(node),
        }
        Ok(())
    }

    fn counted(&mut self, node: Node<'_>) -> Result<Loop, String> {
        let header = self.field(node, "initializer")?;
        let first = self.field(header, "declarator")?;
        let (condition, update) = (self.field(node, "condition")?, self.field(node, "update")?);
        if first.kind() != "init_declarator" || condition.kind() != "binary_expression" {
            return self.not_understood(node);
        }
        let variable = self.text(self.field(first, "declarator")?);
        let number = |node: Node<'_>| self.text(node).parse::<i64>().ok();
        let update = self.text(update).replace(' ', "");
        let step = match update.strip_prefix(&format!("{variable}+=")) {
            Some(step) => step.parse::<i64>().ok(),
            None => [format!("{variable}++"), format!("++{variable}")]
                .contains(&update)
                .then_some(1),
        };
        let start = number(self.field(first, "value")?);
        let end = number(self.field(condition, "right")?);
        let plain = self.text(self.field(condition, "left")?) == variable
            && self.text(self.field(condition, "operator")?) == "<";
        let (Some(start), Some(end), Some(step), true) = (start, end, step, plain) else {
            return self.not_understood(node);
        };
        if start < 0 || end <= start || EXTENT_LIMIT < end || step < 1 {
            return self.not_understood(node);
        }
        if is_reserved(variable) {
            return self.refused(
                node,
                &format!("uses the name `{variable}`, which is wanted"),
            );
        }
        if self.names.contains_key(variable) || self.loops.iter().any(|it| it == variable) {
            return self.refused(node, &format!("declares `{variable}` a second time"));
        }
        self.loops.push(variable.to_owned());
        let outside = self.names.clone();
        let body = self.block(self.field(node, "body")?)?;
        self.names = outside;
        self.loops.pop();
        Ok(Loop {
            variable: variable.to_owned(),
            start,
            end,
            step,
            body,
        })
    }

    fn declaration(
        &mut self,
        node: Node<'_>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let kind = self.text(self.field(node, "type")?).to_owned();
        let kind = if kind == "int" {
            "int32_t".into()
        } else {
            kind
        };
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            let (place, value) = match declarator.kind() {
                "init_declarator" => (
                    self.field(declarator, "declarator")?,
                    Some(self.expression(self.field(declarator, "value")?)?),
                ),
                _ => (declarator, None),
            };
            let (name, extents) = self.declarator(place)?;
            if value.is_some() && !extents.is_empty() {
                return self.not_understood(node);
            }
            let named = Named {
                kind: kind.clone(),
                extents: extents.clone(),
            };
            self.declare(node, name, named)?;
            statements.push(Statement::Command(Action::Declare {
                kind: kind.clone(),
                name: name.to_owned(),
                extents,
                value,
            }));
        }
        Ok(())
    }

    fn assignment(&self, node: Node<'_>) -> Result<Action, String> {
        match node.kind() {
            "update_expression" => {
                let target = self.element(self.field(node, "argument")?)?;
                let operator = match self.text(self.field(node, "operator")?) {
                    "++" => '+',
                    _ => '-',
                };
                Ok(Action::Assign {
                    target,
                    operator: Some(operator),
                    value: Expression::Number("1".into()),
                })
            }
            "assignment_expression" => {
                let target = self.element(self.field(node, "left")?)?;
                let operator = match self.text(self.field(node, "operator")?) {
                    "=" => None,
                    "+=" => Some('+'),
                    "-=" => Some('-'),
                    "*=" => Some('*'),
                    "/=" => Some('/'),
                    _ => return self.not_understood(node),
                };
                let value = self.expression(self.field(node, "right")?)?;
                Ok(Action::Assign {
                    target,
                    operator,
                    value,
                })
            }
            _ => self.not_understood(node),
        }
    }
}

/// Returns whether a name is one that scheduled kernels use themselves.
fn is_reserved(name: &str) -> bool {
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix).unwrap_or("");
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '_')
    };
    let ours = [
        "lane", "vector", "narrow", "strip", "each_", "at_", "end_", "from_", "last_",
    ];
    ours.into_iter().any(|prefix| name.starts_with(prefix))
        || ["s", "v", "x", "panels", "rows", "tables", "shifts", "carry"]
            .into_iter()
            .any(numbered)
}

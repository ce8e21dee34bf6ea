//! Reads C into a program.

use super::Reason;
use super::declare::Declared;
use super::program::{Binary, Expression, Function, Memory, Program, Statement, Type, Unary};
use crate::syntax::{children, entry, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Names that headers define, with their values; sizes of the accelerator come with the reader.
const NAMES: &[(&str, i64)] = &[
    ("true", 1),
    ("false", 0),
    ("NULL", 0),
    ("OUTPUT_STATIONARY", 0),
    ("WEIGHT_STATIONARY", 1),
    ("NO_ACTIVATION", 0),
    ("RELU", 1),
    ("LAYERNORM", 2),
    ("IGELU", 3),
    ("SOFTMAX", 4),
    ("GARBAGE_ADDR", 0xffff_ffff),
];
/// The deepest that object-like macros may name each other.
const MACRO_DEPTH: usize = 16;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Variable(usize, Type),
    /// An array: its address.
    Array(u64, Type),
}

/// Reads one file.
pub(super) struct Reader<'source> {
    pub(super) source: &'source str,
    pub(super) memories: Vec<Memory>,
    functions: Vec<Function>,
    /// Functions by name: number and result.
    known: BTreeMap<&'source str, (usize, Type)>,
    macros: BTreeMap<String, String>,
    constants: BTreeMap<&'static str, i64>,
    /// Names in scope, innermost last.
    pub(super) scope: Vec<(String, Meaning)>,
    pub(super) slots: usize,
    macro_depth: usize,
    is_float: bool,
}

/// Reads a kernel, the function `name`, for an accelerator whose headers define `sizes`.
///
/// # Errors
/// The line that is not understood, and why.
pub(super) fn read(
    source: &str,
    sizes: &[(&'static str, i64)],
    is_float: bool,
    name: &str,
) -> Result<Program, Reason> {
    let nowhere = |text: &str| Reason::at(0, text);
    let tree = syntax_tree(source).ok_or_else(|| nowhere("it does not parse as C"))?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err(nowhere("it does not parse as C"));
    }
    let main = entry(root, source, name)
        .ok_or_else(|| nowhere(&format!("it has no function `{name}`")))?;
    let mut reader = Reader {
        source,
        memories: Vec::new(),
        functions: Vec::new(),
        known: BTreeMap::new(),
        macros: BTreeMap::new(),
        constants: NAMES.iter().chain(sizes).copied().collect(),
        scope: Vec::new(),
        slots: 0,
        macro_depth: 0,
        is_float,
    };
    for node in children(root) {
        match node.kind() {
            "preproc_def" => {
                let name = node
                    .child_by_field_name("name")
                    .map(|name| reader.text(name));
                let value = node
                    .child_by_field_name("value")
                    .map(|value| reader.text(value));
                if let (Some(name), Some(value)) = (name, value) {
                    reader.macros.insert(name.to_owned(), value.to_owned());
                }
            }
            "declaration" => {
                // What is not understood may never be used.
                let _ = reader.declaration(node, true);
            }
            "function_definition" if node != main => {
                let _ = reader.function(node);
            }
            _ => {}
        }
    }
    reader.main(main)
}

impl<'source> Reader<'source> {
    pub(super) fn text(&self, node: Node<'_>) -> &'source str {
        &self.source[node.byte_range()]
    }

    pub(super) fn refuse(&self, node: Node<'_>, why: &str) -> Reason {
        let line = self.text(node).lines().next().unwrap_or_default().trim();
        Reason::at(node.start_position().row + 1, &format!("{why}: `{line}`"))
    }

    fn main(mut self, node: Node<'source>) -> Result<Program, Reason> {
        self.slots = 0;
        let mut parameters = Vec::new();
        for Declared { name, kind, .. } in self.parameters(node)? {
            let (element, mut extents) = match &kind {
                Type::Pointer(inner) => innermost(inner),
                _ => (kind.clone(), Vec::new()),
            };
            let slot = self.variable(&name, kind.clone());
            if kind.pointee().is_some() {
                extents.insert(0, self.outermost_extent(node, &name).unwrap_or(0));
                parameters.push((slot, Memory::base(self.memories.len())));
                self.memories.push(Memory {
                    name,
                    element: element.size(),
                    extents,
                    is_parameter: true,
                });
            }
        }
        let block = node
            .child_by_field_name("body")
            .ok_or_else(|| self.refuse(node, "it has no body"))?;
        let mut body = Vec::new();
        for child in children(block) {
            let statement = self.statement(child)?;
            body.push((statement, child.byte_range()));
        }
        Ok(Program {
            functions: self.functions,
            memories: self.memories,
            body,
            slots: self.slots,
            parameters,
            start: node.start_byte(),
            inside: block.start_byte() + 1..block.end_byte() - 1,
        })
    }

    fn function(&mut self, node: Node<'source>) -> Result<(), Reason> {
        let outer = (std::mem::take(&mut self.slots), self.scope.len());
        let declared = self.declared(
            node.child_by_field_name("type"),
            node.child_by_field_name("declarator"),
        );
        let result = self.parameters(node).and_then(|parameters| {
            for Declared { name, kind, .. } in parameters {
                self.variable(&name, kind);
            }
            let block = node
                .child_by_field_name("body")
                .ok_or_else(|| self.refuse(node, "it has no body"))?;
            self.block(block)
        });
        self.scope.truncate(outer.1);
        let slots = std::mem::replace(&mut self.slots, outer.0);
        let Declared { name, kind, .. } = declared?;
        let start = node.byte_range().start;
        let at = self.source[start..].find(name.as_str()).unwrap_or(0) + start;
        let name = &self.source[at..at + name.len()];
        self.known.insert(name, (self.functions.len(), kind));
        self.functions.push(Function {
            slots,
            body: result?,
        });
        Ok(())
    }

    /// Returns the type of the accelerator's operands.
    pub(super) fn element_type(&self) -> Type {
        if self.is_float {
            Type::Float
        } else {
            Type::Integer(1, true)
        }
    }

    /// Gives a constant a name.
    pub(super) fn constant_name(&mut self, name: &str, value: i64) {
        self.macros.insert(name.to_owned(), value.to_string());
    }

    pub(super) fn variable(&mut self, name: &str, kind: Type) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.scope
            .push((name.to_owned(), Meaning::Variable(slot, kind)));
        slot
    }

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

    fn statement(&mut self, node: Node<'source>) -> Result<Vec<Statement>, Reason> {
        Ok(match node.kind() {
            "comment" | ";" => Vec::new(),
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

    pub(super) fn expression(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let missing = |reader: &Self| reader.refuse(node, "something is missing");
        let field = |name: &str| node.child_by_field_name(name);
        Ok(match node.kind() {
            "number_literal" => number(self.text(node))
                .ok_or_else(|| self.refuse(node, "a number of another kind"))?,
            "identifier" | "true" | "false" | "null" => self.name(node)?,
            "parenthesized_expression" => {
                let inner = children(node)
                    .into_iter()
                    .find(|node| node.kind() != "comment");
                self.expression(inner.ok_or_else(|| missing(self))?)?
            }
            "cast_expression" => {
                let kind = self.type_name(field("type").ok_or_else(|| missing(self))?)?;
                let (value, _) = self.expression(field("value").ok_or_else(|| missing(self))?)?;
                (narrowed(value, &kind), kind)
            }
            "sizeof_expression" => {
                let size = match (field("type"), field("value")) {
                    (Some(kind), _) => self.type_name(kind)?.size(),
                    (None, Some(value)) => self.expression(value)?.1.size(),
                    (None, None) => return Err(missing(self)),
                };
                (Expression::Integer(size), Type::WIDE)
            }
            "unary_expression" => {
                let (value, kind) =
                    self.expression(field("argument").ok_or_else(|| missing(self))?)?;
                let operation = match field("operator").map(|node| self.text(node)) {
                    Some("-") => Unary::Negate,
                    Some("~") => Unary::Invert,
                    Some("!") => Unary::Not,
                    Some("+") => return Ok((value, kind)),
                    _ => return Err(self.refuse(node, "an operator of another kind")),
                };
                let kind = match kind {
                    Type::Float => kind,
                    _ => Type::WIDE,
                };
                (folded(Expression::Unary(operation, Box::new(value))), kind)
            }
            "conditional_expression" => {
                let (condition, _) =
                    self.expression(field("condition").ok_or_else(|| missing(self))?)?;
                let (then, kind) =
                    self.expression(field("consequence").ok_or_else(|| missing(self))?)?;
                let (otherwise, other) =
                    self.expression(field("alternative").ok_or_else(|| missing(self))?)?;
                let kind = if kind.pointee().is_some() {
                    kind
                } else {
                    other
                };
                (
                    Expression::Choice(Box::new((condition, then, otherwise))),
                    kind,
                )
            }
            "comma_expression" => {
                return Err(self.refuse(node, "two expressions in place of one"));
            }
            "binary_expression" => {
                let (left, kind) = self.expression(field("left").ok_or_else(|| missing(self))?)?;
                let (right, other) =
                    self.expression(field("right").ok_or_else(|| missing(self))?)?;
                let operator = field("operator").map_or("", |node| self.text(node));
                self.binary(node, operator, (left, kind), (right, other))?
            }
            "pointer_expression" => {
                let argument = field("argument").ok_or_else(|| missing(self))?;
                if field("operator").is_some_and(|node| self.text(node) == "&") {
                    let (address, kind) = self.place(argument)?;
                    (address, Type::Pointer(Box::new(kind)))
                } else {
                    self.load(node)?
                }
            }
            "subscript_expression" => self.load(node)?,
            "assignment_expression" => {
                let target = field("left").ok_or_else(|| missing(self))?;
                let value = self.expression(field("right").ok_or_else(|| missing(self))?)?;
                let operator = field("operator").map_or("", |node| self.text(node));
                self.assign(target, operator.trim_end_matches('='), value, false)?
            }
            "update_expression" => {
                let target = field("argument").ok_or_else(|| missing(self))?;
                let operator = field("operator").map_or("", |node| self.text(node));
                let postfix = target.start_byte() == node.start_byte();
                let one = (Expression::Integer(1), Type::WIDE);
                self.assign(target, &operator[..1], one, postfix)?
            }
            "call_expression" => self.call(node)?,
            _ => return Err(self.refuse(node, "an expression of another kind")),
        })
    }

    fn name(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let name = if node.kind() == "null" {
            "NULL"
        } else {
            self.text(node)
        };
        if let Some((_, meaning)) = self.scope.iter().rev().find(|(other, _)| other == name) {
            return Ok(match meaning.clone() {
                Meaning::Variable(slot, kind) => (Expression::Variable(slot), kind),
                Meaning::Array(address, kind) => {
                    let element = kind.pointee().cloned().unwrap_or(Type::Void);
                    let kind = Type::Pointer(Box::new(element));
                    (Expression::Integer(address as i64), kind)
                }
            });
        }
        if let Some(text) = self.macros.get(name).cloned() {
            return self.macro_value(node, &text);
        }
        match name {
            "MVIN_SCALE_IDENTITY" | "ACC_SCALE_IDENTITY" => {
                Ok((Expression::Float(1.0), Type::Float))
            }
            _ => self
                .constants
                .get(name)
                .map(|value| (Expression::Integer(*value), Type::WIDE))
                .ok_or_else(|| self.refuse(node, "a name that nothing here explains")),
        }
    }

    /// Returns the value of an object-like macro, which may name others.
    fn macro_value(
        &mut self,
        node: Node<'source>,
        text: &str,
    ) -> Result<(Expression, Type), Reason> {
        let refused = self.refuse(node, "a macro that is more than a number");
        if MACRO_DEPTH <= self.macro_depth {
            return Err(refused);
        }
        let source = format!("long value = {text};");
        let tree = syntax_tree(&source).filter(|tree| !tree.root_node().has_error());
        let tree = tree.ok_or_else(|| refused.clone())?;
        let value = children(tree.root_node())
            .first()
            .and_then(|node| node.child_by_field_name("declarator"))
            .and_then(|node| node.child_by_field_name("value"))
            .ok_or_else(|| refused.clone())?;
        let mut reader = Reader {
            source: &source,
            memories: Vec::new(),
            functions: Vec::new(),
            known: BTreeMap::new(),
            macros: self.macros.clone(),
            constants: self.constants.clone(),
            scope: Vec::new(),
            slots: 0,
            macro_depth: self.macro_depth + 1,
            is_float: self.is_float,
        };
        reader.expression(value).map_err(|_| refused)
    }

    pub(super) fn binary(
        &self,
        node: Node<'_>,
        operator: &str,
        (mut left, kind): (Expression, Type),
        (mut right, other): (Expression, Type),
    ) -> Result<(Expression, Type), Reason> {
        let scaled = |value: Expression, size: i64| {
            folded(Expression::Binary(
                Binary::Multiply,
                Box::new((value, Expression::Integer(size))),
            ))
        };
        let mut result = match (&kind, &other) {
            (Type::Float, _) | (_, Type::Float) => Type::Float,
            _ => Type::WIDE,
        };
        let operation = match operator {
            "+" | "-" => {
                let operation = if operator == "+" {
                    Binary::Add
                } else {
                    Binary::Subtract
                };
                match (kind.pointee(), other.pointee()) {
                    (Some(_), Some(_)) => {
                        return Err(self.refuse(node, "a difference of two addresses"));
                    }
                    (Some(element), None) => {
                        right = scaled(right, element.size());
                        result = Type::Pointer(Box::new(element.clone()));
                    }
                    (None, Some(element)) => {
                        left = scaled(left, element.size());
                        result = Type::Pointer(Box::new(element.clone()));
                    }
                    (None, None) => {}
                }
                operation
            }
            "*" => Binary::Multiply,
            "/" => Binary::Divide,
            "%" => Binary::Remainder,
            "<<" => Binary::ShiftLeft,
            ">>" => Binary::ShiftRight,
            "&" => Binary::BitAnd,
            "|" => Binary::BitOr,
            "^" => Binary::BitXor,
            "<" => Binary::Less,
            "<=" => Binary::LessEqual,
            ">" | ">=" => {
                std::mem::swap(&mut left, &mut right);
                if operator == ">" {
                    Binary::Less
                } else {
                    Binary::LessEqual
                }
            }
            "==" => Binary::Equal,
            "!=" => Binary::NotEqual,
            "&&" => Binary::And,
            "||" => Binary::Or,
            _ => return Err(self.refuse(node, "an operator of another kind")),
        };
        let value = Expression::Binary(operation, Box::new((left, right)));
        Ok((folded(value), result))
    }

    /// Returns the address of an element, and the element's type.
    fn place(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let missing = |reader: &Self| reader.refuse(node, "something is missing");
        match node.kind() {
            "parenthesized_expression" => {
                let inner = children(node).into_iter().next();
                self.place(inner.ok_or_else(|| missing(self))?)
            }
            "subscript_expression" => {
                let base = node
                    .child_by_field_name("argument")
                    .ok_or_else(|| missing(self))?;
                let index = node
                    .child_by_field_name("index")
                    .ok_or_else(|| missing(self))?;
                let base = self.expression(base)?;
                let index = self.expression(index)?;
                let (address, kind) = self.binary(node, "+", base, index)?;
                let element = kind.pointee().cloned();
                Ok((
                    address,
                    element.ok_or_else(|| self.refuse(node, "no array"))?,
                ))
            }
            "pointer_expression" => {
                let inner = node
                    .child_by_field_name("argument")
                    .ok_or_else(|| missing(self))?;
                let (address, kind) = self.expression(inner)?;
                let element = kind.pointee().cloned();
                Ok((
                    address,
                    element.ok_or_else(|| self.refuse(node, "no address"))?,
                ))
            }
            "identifier" => {
                let name = self.text(node);
                let found = self.scope.iter().rev().find(|(other, _)| other == name);
                match found {
                    Some((_, Meaning::Array(address, kind))) => {
                        Ok((Expression::Integer(*address as i64), kind.clone()))
                    }
                    _ => Err(self.refuse(node, "the address of a variable")),
                }
            }
            _ => Err(self.refuse(node, "an address of another kind")),
        }
    }

    fn load(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let (address, kind) = self.place(node)?;
        Ok(match kind {
            // An array is the address of its first element.
            Type::Array(element, _) => (address, Type::Pointer(element)),
            kind => (Expression::Load(Box::new(address)), kind),
        })
    }

    fn assign(
        &mut self,
        target: Node<'source>,
        operator: &str,
        value: (Expression, Type),
        keeps_old: bool,
    ) -> Result<(Expression, Type), Reason> {
        if target.kind() == "identifier" {
            let (variable, kind) = self.name(target)?;
            let Expression::Variable(slot) = variable else {
                return Err(self.refuse(target, "an assignment to something else than a variable"));
            };
            let value = match operator {
                "" => value.0,
                _ => {
                    let old = (Expression::Variable(slot), kind.clone());
                    self.binary(target, operator, old, value)?.0
                }
            };
            let value = Box::new(narrowed(value, &kind));
            let result = if keeps_old {
                Expression::Replace(slot, value)
            } else {
                Expression::Assign(slot, value)
            };
            return Ok((result, kind));
        }
        let (address, kind) = self.place(target)?;
        let size = kind.size();
        Ok((Expression::Store(Box::new((address, value.0)), size), kind))
    }

    fn call(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let name = node
            .child_by_field_name("function")
            .map_or("", |name| self.text(name));
        let mut arguments = Vec::new();
        for argument in node
            .child_by_field_name("arguments")
            .map(children)
            .unwrap_or_default()
        {
            if argument.kind() != "comment" {
                arguments.push(self.expression(argument)?.0);
            }
        }
        if let Some((function, kind)) = self.known.get(name) {
            return Ok((Expression::Call(*function, arguments), kind.clone()));
        }
        if !super::commands::is_command(name, arguments.len()) {
            return Err(self.refuse(node, "a call that is not understood"));
        }
        let line = node.start_position().row + 1;
        Ok((
            Expression::Command(name.to_owned(), arguments, line),
            Type::Void,
        ))
    }
}

/// Returns the type inside all arrays, and their extents.
fn innermost(kind: &Type) -> (Type, Vec<i64>) {
    match kind {
        Type::Array(element, count) => {
            let (inner, mut extents) = innermost(element);
            extents.insert(0, *count);
            (inner, extents)
        }
        _ => (kind.clone(), Vec::new()),
    }
}

/// Returns what a variable of this type keeps of a value.
pub(super) fn narrowed(value: Expression, kind: &Type) -> Expression {
    match kind {
        Type::Integer(bytes, signed) if *bytes < 8 => match value {
            Expression::Integer(value) => {
                Expression::Integer(super::run::narrow(value, *bytes, *signed))
            }
            value => Expression::Narrow(*bytes, *signed, Box::new(value)),
        },
        _ => value,
    }
}

/// Computes what is known already.
fn folded(value: Expression) -> Expression {
    use Expression::Integer;
    let known = match &value {
        Expression::Unary(operation, inner) => match **inner {
            Integer(inner) => Some(super::run::unary(*operation, inner)),
            _ => None,
        },
        Expression::Binary(operation, both) => match **both {
            (Integer(left), Integer(right)) => super::run::binary(*operation, left, right),
            _ => None,
        },
        _ => None,
    };
    match (known, value) {
        (Some(known), _) => Integer(known),
        (None, Expression::Unary(Unary::Negate, inner)) => match *inner {
            Expression::Float(inner) => Expression::Float(-inner),
            inner => Expression::Unary(Unary::Negate, Box::new(inner)),
        },
        (None, value) => value,
    }
}

fn number(text: &str) -> Option<(Expression, Type)> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        let digits = digits.trim_end_matches(['u', 'l']);
        let value = u64::from_str_radix(digits, 16).ok()?;
        return Some((Expression::Integer(value as i64), Type::WIDE));
    }
    if lower.contains(['.', 'e', 'f']) {
        let value = lower.trim_end_matches(['f', 'l']).parse().ok()?;
        return Some((Expression::Float(value), Type::Float));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    if 1 < digits.len() && digits.starts_with('0') {
        let value = i64::from_str_radix(digits, 8).ok()?;
        return Some((Expression::Integer(value), Type::WIDE));
    }
    Some((Expression::Integer(digits.parse().ok()?), Type::WIDE))
}

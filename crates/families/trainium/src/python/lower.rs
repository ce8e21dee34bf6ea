//! From text to the lowered tree. What is not understood becomes a node that fails when it is
//! reached, so that harness code beside a kernel does no harm.

use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextSize};

use super::tree::{
    Action, Argument, Binary, Built, Clause, Code, Comparison, Expression, Module, Node, Parameter,
    Piece, Statement, Target, Unary,
};
use super::value::Value;
use crate::diagnostic::{Failure, FailureKind, Outcome};

/// Longest file that is read, in bytes.
const MAXIMUM_SOURCE: usize = 1 << 20;
/// Deepest nesting of brackets, blocks and operators.
const MAXIMUM_DEPTH: u32 = 150;

/// Reads `source` into a tree.
///
/// # Errors
/// `source-too-long`, `nesting-too-deep` or `syntax-error`, with the line.
pub(crate) fn lower(source: &str) -> Outcome<Module> {
    if source.len() > MAXIMUM_SOURCE {
        return Err(Failure::new(
            FailureKind::Syntax,
            "source-too-long",
            format!(
                "the file has {} bytes, more than {MAXIMUM_SOURCE}",
                source.len()
            ),
            "shorten the kernel; loops need not be unrolled by hand",
        ));
    }
    check_nesting(source)?;
    let index = LineIndex::from_source_text(source);
    let parsed = ruff_python_parser::parse_module(source).map_err(|error| {
        let line = index.line_index(error.location.start()).get() as u32;
        Failure::new(
            FailureKind::Syntax,
            "syntax-error",
            format!("not Python: {}", error.error),
            "mend the syntax at this line",
        )
        .at(line)
    })?;
    let mut lowering = Lowering {
        source,
        index,
        scopes: vec![Scope::default()],
        depth: 0,
    };
    let body = &parsed.syntax().body;
    lowering.declare(body);
    let body = lowering.block(body)?;
    let names = lowering
        .scopes
        .pop()
        .map(|scope| scope.names)
        .unwrap_or_default();
    Ok(Module { body, names })
}

/// Refuses text whose nesting could exhaust the stack of the parser, before it is parsed.
fn check_nesting(source: &str) -> Outcome<()> {
    let mut brackets = 0u32;
    for (number, line) in source.lines().enumerate() {
        let bytes = line.as_bytes();
        let indent = bytes
            .iter()
            .take_while(|b| **b == b' ' || **b == b'\t')
            .count();
        let mut words = 0u32;
        for byte in bytes {
            match byte {
                b'(' | b'[' | b'{' => brackets += 1,
                b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            if brackets > MAXIMUM_DEPTH {
                break;
            }
        }
        for word in line.split_ascii_whitespace() {
            if matches!(
                word,
                "not" | "lambda" | "lambda:" | "await" | "else" | "-" | "~" | "+"
            ) {
                words += 1;
            }
        }
        let mut run = 0u32;
        let mut longest = 0u32;
        for byte in bytes {
            if matches!(byte, b'-' | b'~' | b'+') {
                run += 1;
                longest = longest.max(run);
            } else if !byte.is_ascii_whitespace() {
                run = 0;
            }
        }
        if brackets > MAXIMUM_DEPTH || indent > 800 || words > 400 || longest > 200 {
            // Lines of dashes are common in comments and headings.
            if line.trim_start().starts_with('#') && brackets <= MAXIMUM_DEPTH {
                continue;
            }
            if longest > 200
                && words <= 400
                && brackets <= MAXIMUM_DEPTH
                && indent <= 800
                && (line.contains('#') || line.contains('"') || line.contains('\''))
            {
                continue;
            }
            return Err(too_deep(number as u32 + 1));
        }
    }
    Ok(())
}

fn too_deep(line: u32) -> Box<Failure> {
    Failure::new(
        FailureKind::Syntax,
        "nesting-too-deep",
        "brackets, blocks or operators are nested too deeply",
        "flatten the expression",
    )
    .at(line)
}

#[derive(Default)]
struct Scope {
    slots: HashMap<String, u32>,
    names: Vec<Rc<str>>,
    outer: Vec<String>,
    global: Vec<String>,
    /// Names of comprehensions, innermost last.
    overlay: Vec<(String, u32)>,
}

impl Scope {
    fn slot(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = self.names.len() as u32;
        self.names.push(name.into());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    fn hidden(&mut self, name: &str) -> u32 {
        let slot = self.names.len() as u32;
        self.names.push(name.into());
        self.overlay.push((name.to_owned(), slot));
        slot
    }

    fn find(&self, name: &str) -> Option<u32> {
        self.overlay
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, slot)| *slot)
            .or_else(|| self.slots.get(name).copied())
    }
}

struct Lowering<'a> {
    source: &'a str,
    index: LineIndex,
    scopes: Vec<Scope>,
    depth: u32,
}

impl Lowering<'_> {
    fn line(&self, at: TextSize) -> u32 {
        self.index.line_index(at).get() as u32
    }

    fn refuse(&self, at: TextSize, what: &str, remedy: &str) -> Rc<Failure> {
        let failure = Failure::unsupported(
            "unsupported-python",
            format!("{what} is not supported in kernels"),
            remedy,
        );
        Rc::from(failure.at(self.line(at)))
    }

    fn enter(&mut self, at: TextSize) -> Outcome<()> {
        self.depth += 1;
        if self.depth > 2 * MAXIMUM_DEPTH {
            return Err(too_deep(self.line(at)));
        }
        Ok(())
    }

    /// Gives every name that a block binds a slot of the current scope.
    fn declare(&mut self, body: &[Stmt]) {
        for statement in body {
            match statement {
                Stmt::Global(node) => {
                    let names = node.names.iter().map(|name| name.id.to_string());
                    self.top().global.extend(names);
                }
                Stmt::Nonlocal(node) => {
                    let names = node.names.iter().map(|name| name.id.to_string());
                    self.top().outer.extend(names);
                }
                _ => {}
            }
        }
        for statement in body {
            self.declare_one(statement);
        }
    }

    fn top(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn bind(&mut self, name: &str) {
        let scope = self.top();
        if scope.global.iter().any(|n| n == name) || scope.outer.iter().any(|n| n == name) {
            return;
        }
        scope.slot(name);
    }

    fn declare_target(&mut self, target: &Expr) {
        match target {
            Expr::Name(node) => self.bind(node.id.as_str()),
            Expr::Tuple(node) => node.elts.iter().for_each(|e| self.declare_target(e)),
            Expr::List(node) => node.elts.iter().for_each(|e| self.declare_target(e)),
            Expr::Starred(node) => self.declare_target(&node.value),
            _ => {}
        }
    }

    fn declare_one(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(node) => {
                node.targets
                    .iter()
                    .for_each(|target| self.declare_target(target));
                self.declare_walrus(&node.value);
            }
            Stmt::AugAssign(node) => self.declare_target(&node.target),
            Stmt::AnnAssign(node) => self.declare_target(&node.target),
            Stmt::Expr(node) => self.declare_walrus(&node.value),
            Stmt::For(node) => {
                self.declare_target(&node.target);
                self.declare(&node.body);
                self.declare(&node.orelse);
            }
            Stmt::While(node) => {
                self.declare_walrus(&node.test);
                self.declare(&node.body);
                self.declare(&node.orelse);
            }
            Stmt::If(node) => {
                self.declare_walrus(&node.test);
                self.declare(&node.body);
                for clause in &node.elif_else_clauses {
                    self.declare(&clause.body);
                }
            }
            Stmt::With(node) => {
                for item in &node.items {
                    if let Some(target) = &item.optional_vars {
                        self.declare_target(target);
                    }
                }
                self.declare(&node.body);
            }
            Stmt::Try(node) => {
                self.declare(&node.body);
                self.declare(&node.orelse);
                self.declare(&node.finalbody);
            }
            Stmt::FunctionDef(node) => self.bind(node.name.id.as_str()),
            Stmt::ClassDef(node) => self.bind(node.name.id.as_str()),
            Stmt::Import(node) => {
                for alias in &node.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).id.as_str();
                    let first = name.split('.').next().unwrap_or(name).to_owned();
                    self.bind(&first);
                }
            }
            Stmt::ImportFrom(node) => {
                for alias in &node.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).id.to_string();
                    self.bind(&name);
                }
            }
            _ => {}
        }
    }

    /// Binds `:=` targets in the places where they are usual: conditions and bare expressions.
    fn declare_walrus(&mut self, expression: &Expr) {
        match expression {
            Expr::Named(node) => {
                self.declare_target(&node.target);
                self.declare_walrus(&node.value);
            }
            Expr::Compare(node) => {
                self.declare_walrus(&node.left);
                node.comparators.iter().for_each(|e| self.declare_walrus(e));
            }
            Expr::BoolOp(node) => node.values.iter().for_each(|e| self.declare_walrus(e)),
            Expr::BinOp(node) => {
                self.declare_walrus(&node.left);
                self.declare_walrus(&node.right);
            }
            _ => {}
        }
    }

    fn name(&self, name: &str, line: u32) -> Expression {
        if is_dunder(name) {
            return Expression::Refused(Rc::from(dunder(name, line)));
        }
        let last = self.scopes.len() - 1;
        let global = self.scopes[last].global.iter().any(|n| n == name);
        if !global {
            for (depth, scope) in self.scopes[1..].iter().rev().enumerate() {
                if let Some(slot) = scope.find(name) {
                    return if depth == 0 {
                        Expression::Local(slot)
                    } else {
                        Expression::Outer {
                            depth: depth as u32,
                            slot,
                        }
                    };
                }
            }
        }
        match self.scopes[0].find(name) {
            Some(slot) => Expression::Global(slot),
            None => Expression::Unbound(name.into()),
        }
    }

    fn target(&mut self, target: &Expr) -> Outcome<Target> {
        let line = self.line(target.start());
        Ok(match target {
            Expr::Name(node) => match self.name(node.id.as_str(), line) {
                Expression::Local(slot) => Target::Local(slot),
                Expression::Outer { depth, slot } => Target::Outer { depth, slot },
                Expression::Global(slot) => Target::Global(slot),
                Expression::Refused(failure) => Target::Refused(failure),
                _ => {
                    let slot = self.scopes[0].slot(node.id.as_str());
                    Target::Global(slot)
                }
            },
            Expr::Subscript(node) => Target::Subscript(
                Box::new(self.expression(&node.value)?),
                Box::new(self.expression(&node.slice)?),
            ),
            Expr::Attribute(_) => Target::Attribute,
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                let mut targets = Vec::new();
                let mut star = None;
                for (position, element) in elts.iter().enumerate() {
                    if let Expr::Starred(starred) = element {
                        star = Some(position);
                        targets.push(self.target(&starred.value)?);
                    } else {
                        targets.push(self.target(element)?);
                    }
                }
                Target::Unpack(targets, star)
            }
            other => Target::Refused(self.refuse(
                other.start(),
                "this target",
                "assign to a name or a subscript",
            )),
        })
    }

    fn block(&mut self, body: &[Stmt]) -> Outcome<Vec<Statement>> {
        let mut statements = Vec::with_capacity(body.len());
        for statement in body {
            self.enter(statement.start())?;
            self.statement(statement, &mut statements)?;
            self.depth -= 1;
        }
        Ok(statements)
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Statement>) -> Outcome<()> {
        let mut line = self.line(statement.start());
        let kind = match statement {
            Stmt::Expr(node) => match &*node.value {
                Expr::StringLiteral(_) | Expr::EllipsisLiteral(_) => return Ok(()),
                value => Action::Evaluate(self.expression(value)?),
            },
            Stmt::Assign(node) => {
                let value = self.expression(&node.value)?;
                let targets = node
                    .targets
                    .iter()
                    .map(|t| self.target(t))
                    .collect::<Outcome<_>>()?;
                Action::Assign(targets, value)
            }
            Stmt::AnnAssign(node) => match &node.value {
                Some(value) => {
                    let value = self.expression(value)?;
                    Action::Assign(vec![self.target(&node.target)?], value)
                }
                None => return Ok(()),
            },
            Stmt::AugAssign(node) => {
                let value = self.expression(&node.value)?;
                Action::Augment(self.target(&node.target)?, binary(node.op), value)
            }
            Stmt::If(node) => {
                let test = self.expression(&node.test)?;
                let body = self.block(&node.body)?;
                let mut rest: Vec<Statement> = Vec::new();
                for clause in node.elif_else_clauses.iter().rev() {
                    let body = self.block(&clause.body)?;
                    rest = match &clause.test {
                        Some(test) => {
                            let line = self.line(test.start());
                            let test = self.expression(test)?;
                            vec![Statement {
                                line,
                                kind: Action::If(test, body, rest),
                            }]
                        }
                        None => body,
                    };
                }
                Action::If(test, body, rest)
            }
            Stmt::For(node) if !node.is_async => {
                let iterable = self.expression(&node.iter)?;
                let target = self.target(&node.target)?;
                Action::For(
                    target,
                    iterable,
                    self.block(&node.body)?,
                    self.block(&node.orelse)?,
                )
            }
            Stmt::While(node) => {
                let test = self.expression(&node.test)?;
                Action::While(test, self.block(&node.body)?, self.block(&node.orelse)?)
            }
            Stmt::With(node) if !node.is_async => {
                let mut items = Vec::new();
                for item in &node.items {
                    items.push(self.expression(&item.context_expr)?);
                }
                Action::With(items, self.block(&node.body)?)
            }
            Stmt::Return(node) => Action::Return(
                node.value
                    .as_ref()
                    .map(|v| self.expression(v))
                    .transpose()?,
            ),
            Stmt::Assert(node) => {
                let test = self.expression(&node.test)?;
                Action::Assert(
                    test,
                    node.msg.as_ref().map(|m| self.expression(m)).transpose()?,
                )
            }
            Stmt::Raise(node) => {
                Action::Raise(node.exc.as_ref().map(|e| self.expression(e)).transpose()?)
            }
            Stmt::FunctionDef(node) => {
                line = self.line(node.name.start());
                let target = self.name_target(node.name.id.as_str(), line);
                if node.is_async {
                    Action::Refused(self.refuse(
                        node.name.start(),
                        "async",
                        "write a plain function",
                    ))
                } else {
                    let code = self.function(node)?;
                    Action::Define(target, Rc::new(code))
                }
            }
            Stmt::Import(node) => {
                for alias in &node.names {
                    let path: Rc<str> = alias.name.id.as_str().into();
                    let (bound, path) = match &alias.asname {
                        Some(name) => (name.id.to_string(), path),
                        // `import a.b` binds `a`.
                        None => {
                            let first = path.split('.').next().unwrap_or(&path).to_owned();
                            let whole = first.as_str().into();
                            (first, whole)
                        }
                    };
                    let target = self.name_target(&bound, line);
                    out.push(Statement {
                        line,
                        kind: Action::Import(target, path),
                    });
                }
                return Ok(());
            }
            Stmt::ImportFrom(node) => {
                let path: Rc<str> = match &node.module {
                    Some(module) if node.level == 0 => module.id.as_str().into(),
                    Some(module) => format!(".{}", module.id).as_str().into(),
                    None => ".".into(),
                };
                for alias in &node.names {
                    let name: Rc<str> = alias.name.id.as_str().into();
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name).id.to_string();
                    let target = self.name_target(&bound, line);
                    out.push(Statement {
                        line,
                        kind: Action::ImportFrom(target, path.clone(), name),
                    });
                }
                return Ok(());
            }
            Stmt::Try(node) if self.scopes.len() == 1 => {
                // At module level `try` guards imports: what it would import is tried.
                let body = self.block(&node.body)?;
                out.extend(body);
                return Ok(());
            }
            Stmt::Delete(node) => {
                let targets = node
                    .targets
                    .iter()
                    .map(|t| self.target(t))
                    .collect::<Outcome<_>>()?;
                Action::Delete(targets)
            }
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => Action::Pass,
            Stmt::Break(_) => Action::Break,
            Stmt::Continue(_) => Action::Continue,
            Stmt::ClassDef(node) => {
                let failure = self.refuse(
                    node.name.start(),
                    "a class",
                    "use plain functions, tuples and dicts",
                );
                let target = self.name_target(node.name.id.as_str(), line);
                let value = Node {
                    line,
                    kind: Expression::Refused(failure),
                };
                Action::Assign(vec![target], value)
            }
            Stmt::Try(node) => Action::Refused(self.refuse(
                node.range.start(),
                "try",
                "let errors surface; kernels have no exceptions",
            )),
            other => Action::Refused(self.refuse(
                other.start(),
                "this statement",
                "use for, while, if, assignments and calls",
            )),
        };
        out.push(Statement { line, kind });
        Ok(())
    }

    fn name_target(&mut self, name: &str, line: u32) -> Target {
        match self.name(name, line) {
            Expression::Local(slot) => Target::Local(slot),
            Expression::Outer { depth, slot } => Target::Outer { depth, slot },
            Expression::Global(slot) => Target::Global(slot),
            Expression::Refused(failure) => Target::Refused(failure),
            _ => Target::Global(self.scopes[0].slot(name)),
        }
    }

    fn parameters(&mut self, parameters: &ast::Parameters) -> Outcome<Vec<Option<Node>>> {
        // Defaults belong to the enclosing scope.
        parameters
            .iter_non_variadic_params()
            .map(|p| p.default.as_ref().map(|d| self.expression(d)).transpose())
            .collect()
    }

    fn function(&mut self, node: &ast::StmtFunctionDef) -> Outcome<Code> {
        let defaults = self.parameters(&node.parameters)?;
        self.scopes.push(Scope::default());
        let line = self.line(node.name.start());
        let mut code = self.signature(&node.parameters, defaults, node.name.id.as_str(), line);
        self.declare(&node.body);
        code.body = self.block(&node.body)?;
        self.close(&mut code);
        Ok(code)
    }

    fn signature(
        &mut self,
        parameters: &ast::Parameters,
        defaults: Vec<Option<Node>>,
        name: &str,
        line: u32,
    ) -> Code {
        let count = parameters.posonlyargs.len() + parameters.args.len();
        let mut positional = Vec::new();
        let mut keyword_only = Vec::new();
        for (position, (parameter, default)) in parameters
            .iter_non_variadic_params()
            .zip(defaults)
            .enumerate()
        {
            let name = parameter.parameter.name.id.as_str();
            let slot = self.top().slot(name);
            let parameter = Parameter {
                name: name.into(),
                slot,
                default,
            };
            if position < count {
                positional.push(parameter);
            } else {
                keyword_only.push(parameter);
            }
        }
        let rest = parameters
            .vararg
            .as_ref()
            .map(|p| self.top().slot(p.name.id.as_str()));
        let keywords = parameters
            .kwarg
            .as_ref()
            .map(|p| self.top().slot(p.name.id.as_str()));
        Code {
            name: name.into(),
            line,
            positional,
            keyword_only,
            rest,
            keywords,
            slots: 0,
            names: Vec::new(),
            body: Vec::new(),
            value: None,
        }
    }

    fn close(&mut self, code: &mut Code) {
        if let Some(scope) = self.scopes.pop() {
            code.slots = scope.names.len() as u32;
            code.names = scope.names;
        }
    }

    fn boxed(&mut self, expression: &Expr) -> Outcome<Box<Node>> {
        Ok(Box::new(self.expression(expression)?))
    }

    fn nodes(&mut self, expressions: &[Expr]) -> Outcome<Vec<Node>> {
        expressions.iter().map(|e| self.expression(e)).collect()
    }

    fn expression(&mut self, expression: &Expr) -> Outcome<Node> {
        self.enter(expression.start())?;
        let mut line = self.line(expression.start());
        let kind = match expression {
            Expr::NoneLiteral(_) => Expression::Constant(Value::None),
            Expr::BooleanLiteral(node) => Expression::Constant(Value::Bool(node.value)),
            Expr::EllipsisLiteral(_) => Expression::Constant(Value::Ellipsis),
            Expr::StringLiteral(node) => {
                Expression::Constant(Value::Str(node.value.to_str().into()))
            }
            Expr::NumberLiteral(node) => match &node.value {
                ast::Number::Int(value) => match value.as_i64() {
                    Some(value) => Expression::Constant(Value::Int(value)),
                    None => Expression::Refused(self.refuse(
                        expression.start(),
                        "an integer beyond 64 bits",
                        "use a smaller number",
                    )),
                },
                ast::Number::Float(value) => Expression::Constant(Value::Float(*value)),
                ast::Number::Complex { .. } => Expression::Refused(self.refuse(
                    expression.start(),
                    "a complex number",
                    "keep real and imaginary parts apart",
                )),
            },
            Expr::Name(node) => self.name(node.id.as_str(), line),
            Expr::Attribute(node) => {
                line = self.line(node.attr.start());
                let name = node.attr.id.as_str();
                if is_dunder(name) {
                    Expression::Refused(Rc::from(dunder(name, line)))
                } else {
                    Expression::Attribute(self.boxed(&node.value)?, name.into())
                }
            }
            Expr::Call(node) => {
                let function = self.boxed(&node.func)?;
                line = function.line;
                let mut arguments = Vec::new();
                for argument in &node.arguments.args {
                    arguments.push(match argument {
                        Expr::Starred(starred) => {
                            Argument::Spread(self.expression(&starred.value)?)
                        }
                        other => Argument::Positional(self.expression(other)?),
                    });
                }
                for keyword in &node.arguments.keywords {
                    let value = self.expression(&keyword.value)?;
                    arguments.push(match &keyword.arg {
                        Some(name) => Argument::Keyword(name.id.as_str().into(), value),
                        None => Argument::SpreadKeywords(value),
                    });
                }
                Expression::Call(function, arguments)
            }
            Expr::BinOp(node) => Expression::Binary(
                binary(node.op),
                self.boxed(&node.left)?,
                self.boxed(&node.right)?,
            ),
            Expr::Compare(node) => {
                let left = self.boxed(&node.left)?;
                let mut rest = Vec::new();
                for (operator, right) in node.ops.iter().zip(node.comparators.iter()) {
                    rest.push((comparison(*operator), self.expression(right)?));
                }
                Expression::Compare(left, rest)
            }
            Expr::BoolOp(node) => {
                Expression::Logic(node.op == ast::BoolOp::And, self.nodes(&node.values)?)
            }
            Expr::UnaryOp(node) => {
                let operator = match node.op {
                    ast::UnaryOp::Invert => Unary::Invert,
                    ast::UnaryOp::Not => Unary::Not,
                    ast::UnaryOp::UAdd => Unary::Plus,
                    ast::UnaryOp::USub => Unary::Negate,
                };
                let operand = self.expression(&node.operand)?;
                match (operator, &operand.kind) {
                    (Unary::Negate, Expression::Constant(Value::Int(value))) => {
                        Expression::Constant(Value::Int(value.wrapping_neg()))
                    }
                    (Unary::Negate, Expression::Constant(Value::Float(value))) => {
                        Expression::Constant(Value::Float(-value))
                    }
                    _ => Expression::Unary(operator, Box::new(operand)),
                }
            }
            Expr::Subscript(node) => {
                Expression::Subscript(self.boxed(&node.value)?, self.boxed(&node.slice)?)
            }
            Expr::Slice(node) => {
                let mut part =
                    |e: &Option<Box<Expr>>| e.as_ref().map(|e| self.boxed(e)).transpose();
                Expression::Slice(part(&node.lower)?, part(&node.upper)?, part(&node.step)?)
            }
            Expr::Tuple(node) => Expression::Tuple(self.nodes(&node.elts)?),
            Expr::List(node) => Expression::List(self.nodes(&node.elts)?),
            Expr::Set(node) => Expression::Set(self.nodes(&node.elts)?),
            Expr::Dict(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    let key = item.key.as_ref().map(|k| self.expression(k)).transpose()?;
                    items.push((key, self.expression(&item.value)?));
                }
                Expression::Dict(items)
            }
            Expr::Starred(node) => Expression::Starred(self.boxed(&node.value)?),
            Expr::If(node) => Expression::Conditional(
                self.boxed(&node.test)?,
                self.boxed(&node.body)?,
                self.boxed(&node.orelse)?,
            ),
            Expr::ListComp(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::List(this.expression(&node.elt)?))
            })?,
            Expr::Generator(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::List(this.expression(&node.elt)?))
            })?,
            Expr::SetComp(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::Set(this.expression(&node.elt)?))
            })?,
            Expr::DictComp(node) => match &node.key {
                Some(key) => self.comprehension(&node.generators, |this| {
                    Ok(Built::Dict(
                        this.expression(key)?,
                        this.expression(&node.value)?,
                    ))
                })?,
                None => Expression::Refused(self.refuse(
                    expression.start(),
                    "unpacking in a comprehension",
                    "write a loop",
                )),
            },
            Expr::Lambda(node) => {
                let empty = ast::Parameters::default();
                let parameters = node.parameters.as_deref().unwrap_or(&empty);
                let defaults = self.parameters(parameters)?;
                self.scopes.push(Scope::default());
                let mut code = self.signature(parameters, defaults, "<lambda>", line);
                self.declare_walrus(&node.body);
                code.value = Some(self.expression(&node.body)?);
                self.close(&mut code);
                Expression::Lambda(Rc::new(code))
            }
            Expr::FString(node) => {
                let mut pieces = Vec::new();
                for part in node.value.iter() {
                    match part {
                        ast::FStringPart::Literal(literal) => {
                            pieces.push(Piece::Text(literal.value.as_ref().into()));
                        }
                        ast::FStringPart::FString(inner) => {
                            self.pieces(&inner.elements, &mut pieces)?;
                        }
                    }
                }
                Expression::Format(pieces)
            }
            Expr::Named(node) => {
                let value = self.boxed(&node.value)?;
                Expression::Walrus(self.target(&node.target)?, value)
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                Expression::Refused(self.refuse(expression.start(), "yield", "return a list"))
            }
            Expr::Await(_) => Expression::Refused(self.refuse(
                expression.start(),
                "await",
                "call the function directly",
            )),
            _ => Expression::Refused(self.refuse(
                expression.start(),
                "this expression",
                "use plain numbers, strings, calls and subscripts",
            )),
        };
        self.depth -= 1;
        Ok(Node { line, kind })
    }

    fn pieces(
        &mut self,
        elements: &[ast::InterpolatedStringElement],
        out: &mut Vec<Piece>,
    ) -> Outcome<()> {
        for element in elements {
            match element {
                ast::InterpolatedStringElement::Literal(literal) => {
                    out.push(Piece::Text(literal.value.as_ref().into()));
                }
                ast::InterpolatedStringElement::Interpolation(inner) => {
                    let node = self.expression(&inner.expression)?;
                    let debug = inner.debug_text.as_ref().map(|_| {
                        let text = self
                            .source
                            .get(inner.expression.range().to_std_range())
                            .unwrap_or("");
                        Rc::from(format!("{text}="))
                    });
                    let format = match &inner.format_spec {
                        Some(spec) => {
                            let mut pieces = Vec::new();
                            self.pieces(&spec.elements, &mut pieces)?;
                            Some(pieces)
                        }
                        None => None,
                    };
                    let repr = matches!(inner.conversion, ast::ConversionFlag::Repr)
                        || (debug.is_some() && format.is_none());
                    out.push(Piece::Value {
                        node,
                        repr,
                        debug,
                        format,
                    });
                }
            }
        }
        Ok(())
    }

    fn comprehension(
        &mut self,
        generators: &[ast::Comprehension],
        build: impl FnOnce(&mut Self) -> Outcome<Built>,
    ) -> Outcome<Expression> {
        let before = self.top().overlay.len();
        let mut clauses = Vec::new();
        for generator in generators {
            let iterable = self.expression(&generator.iter)?;
            self.hide(&generator.target);
            let target = self.target(&generator.target)?;
            let conditions = self.nodes(&generator.ifs)?;
            clauses.push(Clause {
                target,
                iterable,
                conditions,
            });
        }
        let built = build(self)?;
        self.top().overlay.truncate(before);
        Ok(Expression::Comprehension(Box::new(built), clauses))
    }

    fn hide(&mut self, target: &Expr) {
        match target {
            Expr::Name(node) => {
                self.top().hidden(node.id.as_str());
            }
            Expr::Tuple(node) => node.elts.iter().for_each(|e| self.hide(e)),
            Expr::List(node) => node.elts.iter().for_each(|e| self.hide(e)),
            Expr::Starred(node) => self.hide(&node.value),
            _ => {}
        }
    }
}

fn is_dunder(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

fn dunder(name: &str, line: u32) -> Box<Failure> {
    Failure::unsupported(
        "unsupported-python",
        format!("the name `{name}` is not available in kernels"),
        "kernels reach nothing of the interpreter; use the interfaces of NKI",
    )
    .at(line)
}

fn binary(operator: ast::Operator) -> Binary {
    match operator {
        ast::Operator::Add => Binary::Add,
        ast::Operator::Sub => Binary::Subtract,
        ast::Operator::Mult => Binary::Multiply,
        ast::Operator::MatMult => Binary::MatrixMultiply,
        ast::Operator::Div => Binary::Divide,
        ast::Operator::Mod => Binary::Modulo,
        ast::Operator::Pow => Binary::Power,
        ast::Operator::LShift => Binary::ShiftLeft,
        ast::Operator::RShift => Binary::ShiftRight,
        ast::Operator::BitOr => Binary::Or,
        ast::Operator::BitXor => Binary::Xor,
        ast::Operator::BitAnd => Binary::And,
        ast::Operator::FloorDiv => Binary::FloorDivide,
    }
}

fn comparison(operator: ast::CmpOp) -> Comparison {
    match operator {
        ast::CmpOp::Eq => Comparison::Equal,
        ast::CmpOp::NotEq => Comparison::NotEqual,
        ast::CmpOp::Lt => Comparison::Less,
        ast::CmpOp::LtE => Comparison::LessEqual,
        ast::CmpOp::Gt => Comparison::Greater,
        ast::CmpOp::GtE => Comparison::GreaterEqual,
        ast::CmpOp::Is => Comparison::Is,
        ast::CmpOp::IsNot => Comparison::IsNot,
        ast::CmpOp::In => Comparison::In,
        ast::CmpOp::NotIn => Comparison::NotIn,
    }
}

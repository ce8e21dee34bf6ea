//! Statements.

use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

use super::Lowering;
use super::expressions::binary;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::tree::{Action, Expression, Guarded, Handler, Node, Statement};

impl<F: Foreign> Lowering<'_, F> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Outcome<Vec<Statement<F>>> {
        let mut statements = Vec::with_capacity(body.len());
        for statement in body {
            self.enter(statement.start())?;
            self.statement(statement, &mut statements)?;
            self.depth -= 1;
        }
        Ok(statements)
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Vec<Statement<F>>) -> Outcome<()> {
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
                let mut rest: Vec<Statement<F>> = Vec::new();
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
                    let entered = self.expression(&item.context_expr)?;
                    let name = item.optional_vars.as_ref();
                    items.push((entered, name.map(|it| self.target(it)).transpose()?));
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
                    let decorators = self.decorators(&node.decorator_list)?;
                    let mut code = self.function(node)?;
                    code.is_kernel = node.decorator_list.iter().any(makes_kernel::<F>);
                    Action::Define(target, Rc::new(code), decorators)
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
            Stmt::Try(node) if self.scopes.len() == 1 && !node.is_star => {
                Action::Try(Box::new(self.guarded(node, line)?))
            }
            Stmt::Delete(node) => {
                let targets = node
                    .targets
                    .iter()
                    .map(|t| self.target(t))
                    .collect::<Outcome<_>>()?;
                Action::Delete(targets)
            }
            Stmt::Match(node) => self.choice(node)?,
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => Action::Pass,
            Stmt::Break(_) => Action::Break,
            Stmt::Continue(_) => Action::Continue,
            Stmt::ClassDef(node) => {
                line = self.line(node.name.start());
                match self.class(node, line)? {
                    // What makes the class impossible is told where it is used.
                    Action::Refused(failure) => {
                        let target = self.name_target(node.name.id.as_str(), line);
                        let kind = Expression::Refused(failure);
                        Action::Assign(vec![target], Node { line, kind })
                    }
                    class => class,
                }
            }
            Stmt::Try(node) => Action::Refused(self.refuse(
                node.range.start(),
                "try",
                "let errors surface: kernels have no exceptions; ask with if, hasattr or getattr(…, default)",
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

    fn guarded(&mut self, node: &ast::StmtTry, line: u32) -> Outcome<Guarded<F>> {
        let mut handlers = Vec::new();
        for ast::ExceptHandler::ExceptHandler(handler) in &node.handlers {
            let classes = match handler.type_.as_deref() {
                None => &[],
                Some(Expr::Tuple(several)) => &*several.elts,
                Some(one) => std::slice::from_ref(one),
            };
            let name_of = |class: &Expr| match class {
                Expr::Name(name) => name.id.as_str().into(),
                Expr::Attribute(attribute) => attribute.attr.id.as_str().into(),
                _ => "".into(),
            };
            let name = handler.name.as_ref();
            handlers.push(Handler {
                classes: classes.iter().map(name_of).collect(),
                name: name.map(|name| self.name_target(name.id.as_str(), line)),
                body: self.block(&handler.body)?,
            });
        }
        Ok(Guarded {
            body: self.block(&node.body)?,
            handlers,
            rest: self.block(&node.orelse)?,
            last: self.block(&node.finalbody)?,
        })
    }

    /// Decorators that name something of the file, which may be a function to apply: their names
    /// and the decorators whole. Those of the language say how a kernel is compiled, not what it does.
    fn decorators(
        &mut self,
        list: &[ruff_python_ast::Decorator],
    ) -> Outcome<Vec<(Node<F>, Node<F>)>> {
        let mut found = Vec::new();
        for decorator in list {
            let root = match &decorator.expression {
                Expr::Call(call) => &*call.func,
                other => other,
            };
            if let Expr::Name(_) = root {
                found.push((
                    self.expression(root)?,
                    self.expression(&decorator.expression)?,
                ));
            }
        }
        Ok(found)
    }
}

/// Whether a decorator makes a kernel of a function.
fn makes_kernel<F: Foreign>(decorator: &ast::Decorator) -> bool {
    let name = match &decorator.expression {
        Expr::Call(call) => &*call.func,
        other => other,
    };
    let Expr::Attribute(name) = name else {
        return false;
    };
    let package = match &*name.value {
        Expr::Name(package) => package.id.as_str(),
        Expr::Attribute(package) => package.attr.id.as_str(),
        _ => return false,
    };
    F::makes_kernel(package, name.attr.id.as_str())
}

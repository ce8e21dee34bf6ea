//! From text to the lowered tree. What is not understood becomes a node that fails when it is
//! reached, so that harness code beside a kernel does no harm.

use std::marker::PhantomData;
use std::rc::Rc;

mod classes;
mod expressions;
mod functions;
mod matches;
mod nesting;
mod scopes;
mod statements;

use ruff_python_ast::{self as ast, Expr};
use ruff_source_file::LineIndex;
use ruff_text_size::{Ranged, TextSize};

use nesting::{check_nesting, too_deep};
use scopes::Scope;

use super::tree::{Expression, Module, Target};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

/// Longest file that is read, in bytes.
const MAXIMUM_SOURCE: usize = 1 << 20;
/// Deepest nesting of brackets, blocks and operators.
const MAXIMUM_DEPTH: u32 = 150;

/// Reads `source` into a tree.
///
/// # Errors
/// `source-too-long`, `nesting-too-deep` or `syntax-error`, with the line.
pub fn lower<F: Foreign>(source: &str) -> Outcome<Module<F>> {
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
        class: None,
        of: PhantomData,
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

struct Lowering<'a, F> {
    source: &'a str,
    index: LineIndex,
    scopes: Vec<Scope>,
    depth: u32,
    /// The class whose method is being read, and how many scopes are open in the method.
    class: Option<(String, usize)>,
    /// What the tree is for.
    of: PhantomData<F>,
}

impl<F: Foreign> Lowering<'_, F> {
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

    fn name(&self, name: &str, line: u32) -> Expression<F> {
        if is_dunder(name) {
            return Expression::Refused(Rc::from(dunder::<F>(name, line)));
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

    fn target(&mut self, target: &Expr) -> Outcome<Target<F>> {
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
            Expr::Attribute(node) => {
                let name = node.attr.id.as_str();
                if is_dunder(name) {
                    Target::Refused(Rc::from(dunder::<F>(name, line)))
                } else {
                    Target::Attribute(Box::new(self.expression(&node.value)?), name.into())
                }
            }
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

    fn name_target(&mut self, name: &str, line: u32) -> Target<F> {
        match self.name(name, line) {
            Expression::Local(slot) => Target::Local(slot),
            Expression::Outer { depth, slot } => Target::Outer { depth, slot },
            Expression::Global(slot) => Target::Global(slot),
            Expression::Refused(failure) => Target::Refused(failure),
            _ => Target::Global(self.scopes[0].slot(name)),
        }
    }
}

fn is_dunder(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

fn dunder<F: Foreign>(name: &str, line: u32) -> Box<Failure> {
    Failure::unsupported(
        "unsupported-python",
        format!("the name `{name}` is not available in kernels"),
        format!(
            "kernels reach nothing of the interpreter; use {}",
            F::INTERFACES
        ),
    )
    .at(line)
}

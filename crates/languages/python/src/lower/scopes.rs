//! Scopes: which names a block binds, and where their values lie.

use std::collections::HashMap;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::Lowering;
use crate::foreign::Foreign;

/// Names of one function, or of the file.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) slots: HashMap<String, u32>,
    pub(super) names: Vec<Rc<str>>,
    pub(super) outer: Vec<String>,
    pub(super) global: Vec<String>,
    /// Names of comprehensions, innermost last.
    pub(super) overlay: Vec<(String, u32)>,
    /// Whether something in it yields.
    pub(super) yields: bool,
}

impl Scope {
    pub(super) fn slot(&mut self, name: &str) -> u32 {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        let slot = self.names.len() as u32;
        self.names.push(name.into());
        self.slots.insert(name.to_owned(), slot);
        slot
    }

    pub(super) fn hidden(&mut self, name: &str) -> u32 {
        let slot = self.names.len() as u32;
        self.names.push(name.into());
        self.overlay.push((name.to_owned(), slot));
        slot
    }

    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.overlay
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, slot)| *slot)
            .or_else(|| self.slots.get(name).copied())
    }
}

impl<F: Foreign> Lowering<'_, F> {
    /// Gives every name that a block binds a slot of the current scope.
    pub(super) fn declare(&mut self, body: &[Stmt]) {
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

    pub(super) fn top(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn bind(&mut self, name: &str) {
        let scope = self.top();
        if scope.global.iter().any(|n| n == name) || scope.outer.iter().any(|n| n == name) {
            return;
        }
        scope.slot(name);
    }

    pub(super) fn declare_target(&mut self, target: &Expr) {
        match target {
            Expr::Name(node) => self.bind(node.id.as_str()),
            Expr::Tuple(node) => node.elts.iter().for_each(|e| self.declare_target(e)),
            Expr::List(node) => node.elts.iter().for_each(|e| self.declare_target(e)),
            Expr::Starred(node) => self.declare_target(&node.value),
            _ => {}
        }
    }

    pub(super) fn declare_one(&mut self, statement: &Stmt) {
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
            Stmt::Match(node) => {
                self.declare_walrus(&node.subject);
                for case in &node.cases {
                    self.declare_pattern(&case.pattern);
                    self.declare(&case.body);
                }
            }
            Stmt::Try(node) => {
                self.declare(&node.body);
                for ast::ExceptHandler::ExceptHandler(handler) in &node.handlers {
                    if let Some(name) = &handler.name {
                        self.bind(name.id.as_str());
                    }
                    self.declare(&handler.body);
                }
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
    pub(super) fn declare_walrus(&mut self, expression: &Expr) {
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
}

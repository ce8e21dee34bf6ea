//! Statements of a kernel, in the order in which they stand.

use std::collections::HashMap;

use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt};
use ruff_text_size::Ranged;

use super::super::source::{
    Source, base_of, each_expression_in, each_statement, kernel_of, name_of,
};
use super::{Affine, Loop, Shapes, Value};

pub(super) struct Walk<'s, 't> {
    pub(super) source: &'s Source<'t>,
    pub(super) shapes: Shapes,
    pub(super) names: HashMap<String, Value>,
    /// How often each of the blocks around runs; `None` where that is not known.
    pub(super) repeated: Vec<Option<i64>>,
    /// Names of lists that are being filled, with the number of blocks around where they are made.
    pub(super) lists: HashMap<String, usize>,
}

impl Walk<'_, '_> {
    pub(super) fn uses(&mut self, body: &[Stmt]) {
        let shapes = &mut self.shapes;
        each_statement(body, &mut Vec::new(), &mut |place, _| {
            let range = place.statement().range();
            match place.statement() {
                Stmt::Assign(it) => {
                    for target in &it.targets {
                        if let (Expr::Subscript(_), Some(name)) = (target, base_of(target)) {
                            shapes
                                .changed
                                .entry(name.to_owned())
                                .or_default()
                                .push(range);
                        }
                    }
                }
                Stmt::AugAssign(it) => {
                    if let Some(name) = base_of(&it.target) {
                        shapes
                            .changed
                            .entry(name.to_owned())
                            .or_default()
                            .push(range);
                    }
                }
                _ => {}
            }
        });
        for statement in body {
            each_expression_in(statement, &mut |it| match it {
                Expr::Name(name) => {
                    let map = match name.ctx {
                        ExprContext::Store => &mut shapes.bound,
                        _ => &mut shapes.read,
                    };
                    map.entry(name.id.to_string()).or_default().push(it.range());
                }
                Expr::Call(call) => {
                    for keyword in &call.arguments.keywords {
                        let written = matches!(keyword.arg.as_deref(), Some("reduce_res" | "dst"));
                        if let (true, Some(name)) = (written, base_of(&keyword.value)) {
                            shapes
                                .changed
                                .entry(name.to_owned())
                                .or_default()
                                .push(it.range());
                        }
                    }
                }
                _ => {}
            });
        }
    }

    pub(super) fn block(&mut self, block: &[Stmt]) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn repeated(&mut self, trips: Option<i64>, block: &[Stmt]) {
        self.repeated.push(trips);
        self.block(block);
        self.repeated.pop();
    }

    /// A list with one more item for each run of the blocks around since it was made.
    pub(super) fn appended(&mut self, list: &str, item: Value) {
        let count = self.lists.get(list).and_then(|depth| {
            let blocks = self.repeated.get(*depth..)?;
            blocks
                .iter()
                .try_fold(1_i64, |count, it| count.checked_mul((*it)?))
        });
        let now = self.names.get(list).cloned().unwrap_or(Value::Unknown);
        let new = match (now, item, count) {
            (Value::Tuple(items), item, Some(1))
                if self.lists.get(list) == Some(&self.repeated.len()) =>
            {
                Value::Tuple(items.into_iter().chain([item]).collect())
            }
            (Value::Tuple(items), Value::Tensor(item), Some(count)) if items.is_empty() => {
                Value::List(item, count)
            }
            (Value::List(old, length), Value::Tensor(item), Some(count)) if old == item => {
                Value::List(item, length.saturating_add(count))
            }
            _ => Value::Unknown,
        };
        self.names.insert(list.to_owned(), new);
    }

    fn not_known(&mut self, node: &impl Ranged, why: &str) {
        let before = self
            .source
            .text
            .get(..usize::from(node.start()))
            .unwrap_or_default();
        self.shapes
            .unknown
            .entry(before.matches('\n').count() as u32 + 1)
            .or_insert_with(|| why.to_owned());
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign(it) => {
                let value = self.value(&it.value);
                let is_call = matches!(it.value.as_ref(), Expr::Call(_));
                let is_kernel = is_call && kernel_of(&it.value).is_some();
                if value == Value::Unknown && !is_kernel {
                    let what = match it.value.as_ref() {
                        Expr::Call(call) => self.source.slice(call.func.as_ref()),
                        other => self.source.slice(other),
                    };
                    let why = format!("what `{}` makes is not known", shortened(what));
                    self.not_known(statement, &why);
                }
                for target in &it.targets {
                    self.bind(target, value.clone());
                    if let (Some(name), Expr::List(_)) = (name_of(target), it.value.as_ref()) {
                        self.lists.insert(name.to_owned(), self.repeated.len());
                    }
                }
            }
            Stmt::AnnAssign(it) => {
                if let Some(value) = &it.value {
                    let value = self.value(value);
                    self.bind(&it.target, value);
                }
            }
            Stmt::AugAssign(it) => {
                self.value(&it.target);
                self.value(&it.value);
                if let Some(name) = name_of(&it.target)
                    && !matches!(self.names.get(name), Some(Value::Tensor(_)))
                {
                    self.names.insert(name.to_owned(), Value::Unknown);
                }
            }
            Stmt::For(it) => {
                let found = self.loop_of(it);
                if found.is_none() {
                    self.not_known(statement, "how often the loop runs is not known");
                }
                let trips = found.as_ref().map(|it| it.trips);
                if let Some(found) = found {
                    self.names.insert(
                        found.variable.clone(),
                        Value::Whole(Affine::variable(&found.variable)),
                    );
                    self.shapes.loops.insert(it.range(), found);
                } else {
                    let item = self.value(&it.iter);
                    match (it.target.as_ref(), item) {
                        (Expr::Name(_), Value::List(item, _)) => {
                            self.bind(&it.target, Value::Tensor(item));
                        }
                        _ => self.bind(&it.target, Value::Unknown),
                    }
                }
                self.repeated(trips, &it.body);
            }
            Stmt::If(it) => {
                self.value(&it.test);
                self.repeated(None, &it.body);
                for clause in &it.elif_else_clauses {
                    self.repeated(None, &clause.body);
                }
            }
            Stmt::With(it) => self.block(&it.body),
            Stmt::ClassDef(it) => {
                // Numbers that a class holds, as `Class.NAME`.
                for statement in &it.body {
                    let (target, value) = match statement {
                        Stmt::Assign(made) => (made.targets.first(), Some(&made.value)),
                        Stmt::AnnAssign(made) => (Some(made.target.as_ref()), made.value.as_ref()),
                        _ => continue,
                    };
                    if let (Some(name), Some(value)) = (target.and_then(name_of), value) {
                        let value = self.value(value);
                        self.names.insert(format!("{}.{name}", it.name), value);
                    }
                }
            }
            Stmt::While(it) => {
                self.not_known(statement, "how often the loop runs is not known");
                self.repeated(None, &it.body);
            }
            Stmt::Expr(it) => {
                self.value(&it.value);
            }
            Stmt::Return(it) => {
                if let Some(value) = &it.value {
                    self.value(value);
                }
            }
            _ => {}
        }
    }

    fn loop_of(&mut self, it: &ast::StmtFor) -> Option<Loop> {
        let variable = name_of(&it.target)?.to_owned();
        let Expr::Call(call) = it.iter.as_ref() else {
            return None;
        };
        let kind = match self.source.path(&call.func) {
            Some(path) => path,
            None => name_of(&call.func)?.to_owned(),
        };
        let known = [
            "nl.affine_range",
            "nl.sequential_range",
            "nl.static_range",
            "range",
        ];
        if !known.contains(&kind.as_str()) || call.arguments.args.len() != 1 {
            call.arguments.args.iter().for_each(|it| {
                self.value(it);
            });
            return None;
        }
        match self.value(&call.arguments.args[0]) {
            Value::Whole(trips) => Some(Loop {
                variable,
                trips: trips.fixed()?,
                kind,
            }),
            _ => None,
        }
    }

    fn bind(&mut self, target: &Expr, value: Value) {
        match (target, value) {
            (Expr::Name(name), value) => {
                self.names.insert(name.id.to_string(), value);
            }
            (Expr::Tuple(targets), Value::Tuple(values)) if targets.elts.len() == values.len() => {
                for (target, value) in targets.elts.iter().zip(values) {
                    self.bind(target, value);
                }
            }
            (Expr::Tuple(targets), _) => {
                for target in &targets.elts {
                    self.bind(target, Value::Unknown);
                }
            }
            (Expr::Subscript(_), _) => {
                self.value(target);
            }
            _ => {}
        }
    }

    pub(super) fn value(&mut self, expression: &Expr) -> Value {
        let value = self.find(expression).unwrap_or(Value::Unknown);
        self.shapes.values.insert(expression.range(), value.clone());
        value
    }
}

/// The beginning of a text, fit for a message of one line.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

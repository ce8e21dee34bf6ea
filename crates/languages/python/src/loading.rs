//! Statements outside of functions.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::modules::{import, is_foreign, is_module};
use super::statements::Flow;
use super::tree::{Action, Expression, Guarded, Handler, Node, Statement, Target};
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

impl<F: Foreign> Interpreter<F> {
    /// Runs what stands outside of functions. What fails to be assigned is bound to its failure,
    /// which surfaces when the kernel uses it; other statements that fail are a harness's and are
    /// left out with a remark, as are calls of the file's own functions.
    pub fn load(&mut self) -> Outcome<()> {
        let module = Rc::clone(&self.module);
        let globals = Rc::clone(&self.globals);
        self.note_definitions();
        self.load_all(&module.body, &globals)?;
        // An import of the file's own package may stand before what it names.
        let late = module.body.iter().filter(|it| match &it.kind {
            Action::ImportFrom(Target::Global(slot), ..) => matches!(
                globals.slots.borrow().0.get(*slot as usize),
                Some(Value::Broken(_))
            ),
            _ => false,
        });
        self.load_all(late.collect::<Vec<_>>(), &globals)
    }

    fn load_all<'s>(
        &mut self,
        statements: impl IntoIterator<Item = &'s Statement<F>>,
        globals: &Rc<Frame<F>>,
    ) -> Outcome<()> {
        for statement in statements {
            let line = statement.line;
            let targets: &[Target<F>] = match &statement.kind {
                Action::Assign(targets, _) => targets,
                Action::Define(target, ..)
                | Action::Class(target, _)
                | Action::Import(target, _)
                | Action::ImportFrom(target, ..) => std::slice::from_ref(target),
                _ => {
                    self.load_other(statement, globals)?;
                    continue;
                }
            };
            match self.execute(statement, globals) {
                Ok(_) => {}
                Err(failure) if stops(&failure) => return Err(failure.at(line)),
                Err(failure) if self.changes_interface(targets, globals) => {
                    return Err(failure.at(line));
                }
                Err(failure) => {
                    self.break_names(std::slice::from_ref(statement), failure.at(line), globals)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an attribute of an imported module is a target.
    fn changes_interface(&mut self, targets: &[Target<F>], globals: &Rc<Frame<F>>) -> bool {
        targets.iter().any(|target| match target {
            Target::Attribute(object, _) => {
                matches!(self.evaluate(object, globals), Ok(Value::Module(_)))
            }
            _ => false,
        })
    }

    /// A statement outside of functions that binds nothing.
    ///
    /// # Errors
    /// What it raises or asserts in vain, and limits.
    fn load_other(&mut self, statement: &Statement<F>, globals: &Rc<Frame<F>>) -> Outcome<()> {
        let line = statement.line;
        match &statement.kind {
            Action::Pass | Action::Refused(_) | Action::Return(_) => return Ok(()),
            _ if self.runs_kernel(statement, globals) => {
                self.device.set_line(line);
                self.device.warn(
                    "left-out",
                    "a call outside of functions is left out".to_owned(),
                    "remove it where it runs the kernel, or put what it does into the kernel",
                );
                return Ok(());
            }
            _ => {}
        }
        let before = self.device.instructions();
        let failure = match self.execute(statement, globals) {
            Ok(_) if before < self.device.instructions() => Failure::new(
                FailureKind::Rejected,
                "instruction-outside-kernel",
                "instructions run outside of the kernel",
                "run them in the kernel",
            )
            .at(line),
            Ok(_) => return Ok(()),
            Err(failure) => failure.at(line),
        };
        if stops(&failure) {
            return Err(failure);
        }
        if !failure.message.contains("`__name__`") {
            self.device.set_line(line);
            self.device.warn(
                "left-out",
                format!(
                    "a statement outside of functions is left out from where it fails: {}",
                    failure.message
                ),
                "remove it, or put what the kernel needs into the kernel",
            );
            self.break_names(std::slice::from_ref(statement), failure, globals)?;
        }
        Ok(())
    }

    /// Binds what statements bind or change to why they could not be run.
    fn break_names(
        &mut self,
        statements: &[Statement<F>],
        failure: Box<Failure>,
        frame: &Rc<Frame<F>>,
    ) -> Outcome<()> {
        let failure: Rc<Failure> = Rc::from(failure);
        let mut slots = bound(statements, true);
        slots.retain(|slot| {
            !matches!(
                frame.slots.borrow().0.get(*slot as usize),
                Some(Value::Module(_))
            )
        });
        slots.into_iter().try_for_each(|slot| {
            let value = Value::Broken(Rc::clone(&failure));
            self.store(&Target::Global(slot), value, frame, failure.line)
        })
    }

    /// Whether a harness runs the kernel, which is left out.
    fn runs_kernel(&mut self, statement: &Statement<F>, globals: &Rc<Frame<F>>) -> bool {
        let Action::Evaluate(Node {
            kind: Expression::Call(call),
            ..
        }) = &statement.kind
        else {
            return false;
        };
        matches!(call.function.kind, Expression::Global(_))
            && !matches!(
                self.evaluate(&call.function, globals),
                Ok(Value::Builtin(_))
            )
    }

    /// Runs `try`. Where it depends on what is not known here, such as a library that kernels
    /// cannot have, everything that it binds is bound to the failure.
    pub(super) fn run_guarded(
        &mut self,
        node: &Guarded<F>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<Flow<F>> {
        let flow = match self.guarded_body(&node.body, frame) {
            Ok(Flow::Next) => self.block(&node.rest, frame),
            Ok(flow) => Ok(flow),
            Err(failure) => match handler_of(&node.handlers, &failure) {
                _ if failure.kind == FailureKind::Limit => return Err(failure),
                Found::One(handler) => {
                    if let Some(name) = &handler.name {
                        self.store(name, Value::str(&failure.message), frame, line)?;
                    }
                    self.block(&handler.body, frame)
                }
                Found::None => Err(failure),
                Found::Unknown => {
                    let failure = failure.at(line);
                    for block in node.blocks() {
                        self.break_names(block, failure.clone(), frame)?;
                    }
                    return Ok(Flow::Next);
                }
            },
        };
        match self.block(&node.last, frame)? {
            Flow::Next => flow,
            other => Ok(other),
        }
    }

    fn guarded_body(&mut self, body: &[Statement<F>], frame: &Rc<Frame<F>>) -> Outcome<Flow<F>> {
        for statement in body {
            let absent = match &statement.kind {
                Action::Import(_, path) if import::<F>(path).is_err() && !is_foreign::<F>(path) => {
                    Some(path)
                }
                Action::ImportFrom(_, path, name)
                    if !is_module::<F>(path, name)
                        && !is_foreign::<F>(path)
                        && self.own_slot(name).is_none() =>
                {
                    Some(path)
                }
                _ => None,
            };
            if let Some(path) = absent {
                return Err(Failure::python(
                    "import-error",
                    format!("no module named `{path}`"),
                    "copy what the kernel needs of it into this file",
                )
                .at(statement.line));
            }
            if self.runs_kernel(statement, frame) {
                continue;
            }
            match self.execute(statement, frame)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }
}

/// What handles a failure.
enum Found<'h, F: Foreign> {
    One(&'h Handler<F>),
    /// Python would go on raising it.
    None,
    /// Whether Python would raise it is not known.
    Unknown,
}

/// Whether a failure ends the loading of a file: what Python itself would raise, and what kernels
/// must not do.
fn stops(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Limit | FailureKind::Rejected)
        || classes_of(failure).is_some()
}

/// The classes of the exception that Python would raise, if it would raise one for certain; none
/// where its class is not kept.
fn classes_of(failure: &Failure) -> Option<&'static [&'static str]> {
    Some(match failure.code.as_str() {
        "zero-division-error" => &["ZeroDivisionError", "ArithmeticError"],
        "overflow-error" => &["OverflowError", "ArithmeticError"],
        "index-error" => &["IndexError", "LookupError"],
        "key-error" => &["KeyError", "LookupError"],
        "value-error" => &["ValueError"],
        "assertion-error" => &["AssertionError"],
        "import-error" => &["ImportError", "ModuleNotFoundError"],
        "raised" => &[],
        _ => return None,
    })
}

fn handler_of<'h, F: Foreign>(handlers: &'h [Handler<F>], failure: &Failure) -> Found<'h, F> {
    let Some(classes) = classes_of(failure) else {
        return Found::Unknown;
    };
    let catches = |handler: &&Handler<F>| {
        let mut names = handler.classes.iter().map(|name| &**name);
        handler.classes.is_empty()
            || names.any(|name| {
                matches!(name, "Exception" | "BaseException") || classes.contains(&name)
            })
    };
    match handlers.iter().find(catches) {
        Some(handler) => Found::One(handler),
        None if failure.code == "raised" && !handlers.is_empty() => Found::Unknown,
        None => Found::None,
    }
}

/// Slots of the file's names that statements bind or change: statements within included, imports
/// only where these are `imported`.
pub(super) fn bound<F: Foreign>(statements: &[Statement<F>], imported: bool) -> Vec<u32> {
    let mut found = Vec::new();
    for statement in statements {
        let blocks: Vec<&[Statement<F>]> = match &statement.kind {
            Action::Assign(targets, _) | Action::Delete(targets) => {
                targets
                    .iter()
                    .for_each(|target| changed(target, &mut found));
                vec![]
            }
            Action::Augment(target, ..) | Action::Define(target, ..) | Action::Class(target, _) => {
                changed(target, &mut found);
                vec![]
            }
            Action::Evaluate(Node {
                kind: Expression::Call(call),
                ..
            }) => {
                // A method may change its object.
                found.extend(root(&call.function));
                vec![]
            }
            Action::Import(target, _) | Action::ImportFrom(target, ..) if imported => {
                changed(target, &mut found);
                vec![]
            }
            Action::If(_, body, rest) | Action::While(_, body, rest) => vec![body, rest],
            Action::For(target, _, body, rest) => {
                changed(target, &mut found);
                vec![body, rest]
            }
            Action::With(items, body) => {
                let names = items.iter().filter_map(|(_, target)| target.as_ref());
                names.for_each(|target| changed(target, &mut found));
                vec![body]
            }
            Action::Match(_, cases) => cases.iter().map(|case| &*case.body).collect(),
            Action::Try(node) => {
                let names = node.handlers.iter().filter_map(|it| it.name.as_ref());
                names.for_each(|target| changed(target, &mut found));
                node.blocks().collect()
            }
            _ => vec![],
        };
        for block in blocks {
            found.extend(bound(block, imported));
        }
    }
    found
}

/// Adds the names that a target binds or whose value it changes.
fn changed<F: Foreign>(target: &Target<F>, found: &mut Vec<u32>) {
    match target {
        Target::Global(slot) => found.push(*slot),
        Target::Unpack(targets, _) => targets.iter().for_each(|it| changed(it, found)),
        Target::Subscript(object, _) | Target::Attribute(object, _) => found.extend(root(object)),
        _ => {}
    }
}

/// The name of the file that an expression begins with.
fn root<F: Foreign>(node: &Node<F>) -> Option<u32> {
    match &node.kind {
        Expression::Global(slot) => Some(*slot),
        Expression::Attribute(attribute) => root(&attribute.object),
        Expression::Subscript(object, _) => root(object),
        Expression::Call(call) => root(&call.function),
        _ => None,
    }
}

//! A run of one file: its state and its limits.

use std::cell::RefCell;
use std::rc::Rc;

use super::release::{Cycles, Items};
use super::tree::{Binary, Module};
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

/// Deepest calls and containers.
pub(super) const MAXIMUM_DEPTH: u32 = 120;

/// Steps from one look at the limits to the next.
const STEPS_AT_A_TIME: u64 = 4096;

/// A run of one file.
pub struct Interpreter<F: Foreign> {
    pub(super) module: Rc<Module<F>>,
    pub(super) globals: Rc<Frame<F>>,
    /// Slots of the names that the file defines.
    pub(super) defined: std::collections::HashSet<u32>,
    /// Modules whose names all were imported with `*`.
    pub(super) starred: Vec<&'static str>,
    /// What the kernel runs on.
    pub device: F::Device,
    pub(super) steps: u64,
    pub(super) step_limit: u64,
    /// Steps beyond which the limits are looked at.
    next_look: u64,
    pub(super) items: u64,
    pub(super) item_limit: u64,
    pub(super) depth: u32,
    /// Whether a kernel is running, rather than what calls one.
    pub(super) within_kernel: bool,
    pub(super) cycles: Cycles<F>,
    /// What the running generators have yielded, innermost last.
    pub(super) yielded: Vec<Vec<Value<F>>>,
    /// Empty lists of earlier calls' arguments.
    pub spare: Vec<Vec<Option<Value<F>>>>,
}

impl<F: Foreign> Interpreter<F> {
    /// Prepares to run `module` on `device`.
    pub fn new(module: Module<F>, device: F::Device, step_limit: u64) -> Self {
        let slots = vec![Value::Unbound; module.names.len()];
        Self {
            module: Rc::new(module),
            globals: Rc::new(Frame {
                slots: RefCell::new(Items(slots)),
                code: None,
                parent: None,
            }),
            defined: std::collections::HashSet::new(),
            starred: Vec::new(),
            device,
            steps: 0,
            step_limit,
            next_look: step_limit.min(STEPS_AT_A_TIME),
            items: 0,
            item_limit: 5_000_000,
            depth: 0,
            within_kernel: false,
            cycles: Cycles::default(),
            yielded: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Whether a kernel is running, rather than what calls one.
    pub fn is_within_kernel(&self) -> bool {
        self.within_kernel
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Frees whatever refers to itself.
    pub fn finish(&mut self) {
        self.cycles.clear();
        let items = std::mem::take(&mut self.globals.slots.borrow_mut().0);
        drop(Items(items));
        for items in self.yielded.drain(..) {
            drop(Items(items));
        }
    }

    /// Takes one step.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn step(&mut self, line: u32) -> Outcome<()> {
        self.steps += 1;
        if self.steps <= self.next_look {
            return Ok(());
        }
        self.look(line)
    }

    /// Compares the steps so far with their limit, and with the work on data with that of both.
    #[cold]
    fn look(&mut self, line: u32) -> Outcome<()> {
        if self.steps > self.step_limit {
            return Err(Failure::new(
                FailureKind::Limit,
                "step-limit",
                format!(
                    "the kernel takes more than {} steps of Python",
                    self.step_limit
                ),
                "make loops finite, and tiles larger so that there are fewer of them",
            )
            .at(line));
        }
        self.next_look = (self.steps + STEPS_AT_A_TIME).min(self.step_limit);
        self.device.look_at_work(self.steps)
    }

    /// Accounts for work on `count` items that one step does.
    pub fn charge(&mut self, count: usize, line: u32) -> Outcome<()> {
        self.steps += count as u64 / 8;
        self.step(line)
    }

    /// Accounts for `count` items of lists and strings.
    pub fn reserve(&mut self, count: u64, line: u32) -> Outcome<()> {
        self.items = self.items.saturating_add(count);
        if self.items > self.item_limit {
            return Err(Failure::new(
                FailureKind::Limit,
                "memory-limit",
                format!(
                    "the kernel makes more than {} values: items of lists and strings, slices of tensors, numbers of ranges",
                    self.item_limit
                ),
                "make loops finite, tiles larger so that there are fewer of them, and lists smaller",
            )
            .at(line));
        }
        Ok(())
    }

    pub(super) fn enter_call(&mut self, line: u32) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAXIMUM_DEPTH {
            self.depth -= 1;
            return Err(Failure::new(
                FailureKind::Limit,
                "depth-limit",
                format!("functions call each other more than {MAXIMUM_DEPTH} deep"),
                "replace recursion by a loop",
            )
            .at(line));
        }
        Ok(())
    }

    /// The binary operators used by `sum` and the like.
    pub(super) fn add(&mut self, left: Value<F>, right: Value<F>, line: u32) -> Outcome<Value<F>> {
        self.binary(Binary::Add, left, right, line)
    }
}

pub(super) fn unbound(name: &str) -> Box<Failure> {
    if let Some(remedy) = super::remedies::instead(name) {
        return Failure::python(
            "name-error",
            format!("`{name}` of Python is not available in kernels"),
            remedy,
        );
    }
    Failure::python(
        "name-error",
        format!("`{name}` is not defined here"),
        "define it before it is used, or import it",
    )
}

/// An error of Python that has to do with types.
pub fn type_error(message: &str) -> Box<Failure> {
    Failure::python("type-error", message, "check the types of the operands")
}

pub(super) fn hashable<F: Foreign>(value: &Value<F>) -> Outcome<super::dictionary::Key> {
    value
        .key(MAXIMUM_DEPTH)
        .ok_or_else(|| type_error(&format!("a {} cannot be a key", value.type_name())))
}

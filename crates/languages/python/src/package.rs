//! Imports of what a file's own package defines: a bundle of several files keeps the `import`
//! statements of its parts, and finds here what they name.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::tree::Target;
use super::value::{Frame, Value};
use crate::device::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// The module that stands for all parts of the file's own package: its names are those that the
/// file defines.
pub(super) const PACKAGE: &str = "package";

impl<F: Foreign> Interpreter<F> {
    /// Slots of the names that the file itself defines: functions, classes and values.
    pub(super) fn note_definitions(&mut self) {
        let found = super::loading::bound(&self.module.body, false);
        self.defined = found.into_iter().collect();
    }

    /// `from path import name`, where `path` is no module that kernels have.
    pub(super) fn import_own(
        &mut self,
        target: &Target<F>,
        path: &str,
        name: &Rc<str>,
        frame: &Rc<Frame<F>>,
        line: u32,
    ) -> Outcome<()> {
        if &**name == "*" {
            return Ok(());
        }
        let slot = self.own_slot(name);
        if let (Some(slot), Target::Global(own)) = (slot, target)
            && slot == *own
        {
            // The definition has been made, or will be.
            return Ok(());
        }
        let value = match slot {
            Some(_) => self.own_value(name)?,
            None if super::modules::is_foreign::<F>(path) => {
                return Err(super::modules::refused::<F>(path));
            }
            None => Value::Module(PACKAGE),
        };
        self.store(target, value, frame, line)
    }

    pub(super) fn own_slot(&self, name: &str) -> Option<u32> {
        let slot = self.module.names.iter().position(|own| &**own == name)? as u32;
        self.defined.contains(&slot).then_some(slot)
    }

    /// What the file defines under a name, as a part of its package sees it.
    pub(super) fn own_value(&mut self, name: &str) -> Outcome<Value<F>> {
        let Some(slot) = self.own_slot(name) else {
            return Err(elsewhere(&format!("`{name}`")));
        };
        let globals = Rc::clone(&self.globals);
        let line = self.device.line();
        self.read(&globals, slot, line, Some(name))
    }
}

/// What a name means that neither the file nor a known module defines.
pub(super) fn elsewhere(what: &str) -> Box<Failure> {
    Failure::unsupported(
        "import-refused",
        format!("{what} is of another file, and a kernel is one file"),
        "copy what the kernel needs of it into this file; the import may stay as it is",
    )
}

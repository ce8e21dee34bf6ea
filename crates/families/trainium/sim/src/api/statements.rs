//! What Python's statements tell the device.

use autocomp_python::Construct;

use super::{Device, Dialect};
use crate::diagnostic::{Failure, Outcome};
use crate::trace::LoopKind;

impl autocomp_python::Device for Device {
    type Loop = LoopKind;

    #[inline]
    fn line(&self) -> u32 {
        self.line
    }

    #[inline]
    fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    fn look_at_work(&mut self, steps: u64) -> Outcome<()> {
        Self::look_at_work(self, steps)
    }

    fn warn(&mut self, code: &str, message: String, remedy: &str) {
        Self::warn(self, code, message, remedy);
    }

    fn instructions(&self) -> usize {
        self.trace.instructions.len()
    }

    fn permits(&self, construct: Construct) -> Outcome<()> {
        let (message, remedy) = match (self.dialect, construct) {
            (Dialect::V2, _) => return Ok(()),
            (Dialect::V1, Construct::Generator) => (
                "yield is not supported in kernels of NKI 1",
                "return a list",
            ),
            (Dialect::V1, Construct::InnerClass) => (
                "a class cannot be defined inside a kernel of NKI 1",
                "define it beside the kernel, or use plain functions, tuples and dicts",
            ),
        };
        Err(Failure::unsupported("unsupported-python", message, remedy))
    }

    fn open_branch(&mut self) -> bool {
        Self::open_branch(self)
    }

    fn open_scope(&mut self) {
        Self::open_scope(self);
    }

    fn close_scope(&mut self) {
        Self::close_scope(self);
    }

    fn open_loop(&mut self, kind: LoopKind, trips: u64, line: u32) {
        Self::open_loop(self, kind, trips, line);
    }

    fn next_iteration(&mut self) {
        Self::next_iteration(self);
    }

    fn close_loop(&mut self) {
        Self::close_loop(self);
    }

    fn compiles_once(&self, kind: LoopKind) -> bool {
        Self::compiles_once(self, kind)
    }

    fn ask(&mut self, what: &str, answer: u64) -> Outcome<()> {
        Self::ask(self, what, answer)
    }

    fn reads_as_before(&mut self, name: &str) -> bool {
        if self.dialect == Dialect::V1 {
            self.warn(
                "carried-by-python",
                format!(
                    "the body of a loop is compiled once: `{name}` is in all iterations what it was before the loop"
                ),
                "compute with the loop's number, or let Python loop with nl.static_range",
            );
        }
        self.dialect == Dialect::V1
    }

    fn enter(&mut self) {
        self.ordered += 1;
    }

    fn leave(&mut self) {
        self.ordered -= 1;
    }
}

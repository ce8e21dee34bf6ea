//! The device that kernels run on, as far as Python's statements tell it what happens.

use super::diagnostic::Outcome;

/// What not every language of kernels has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// A function that yields.
    Generator,
    /// A class that a function defines.
    InnerClass,
}

/// What statements tell the device, and ask it.
pub trait Device {
    /// Kinds of loops.
    type Loop;

    /// The line that runs.
    fn line(&self) -> u32;

    /// Says which line runs.
    fn set_line(&mut self, line: u32);

    /// Compares the work of so many steps, with its own, with its limits.
    ///
    /// # Errors
    /// A limit was reached.
    fn look_at_work(&mut self, _steps: u64) -> Outcome<()> {
        Ok(())
    }

    /// Notes what may go wrong, and what to do about it.
    fn warn(&mut self, _code: &str, _message: String, _remedy: &str) {}

    /// How many instructions it has run.
    fn instructions(&self) -> usize {
        0
    }

    /// Refuses a construct that the language does not have.
    ///
    /// # Errors
    /// The language does not have it.
    fn permits(&self, _construct: Construct) -> Outcome<()> {
        Ok(())
    }

    /// Opens the scope of a branch, where branches have such; whether it did.
    fn open_branch(&mut self) -> bool {
        false
    }

    /// Opens the scope of an iteration.
    fn open_scope(&mut self) {}

    /// Closes the innermost scope.
    fn close_scope(&mut self) {}

    /// Opens a loop of so many iterations at a line.
    fn open_loop(&mut self, _kind: Self::Loop, _trips: u64, _line: u32) {}

    /// Goes on to the next iteration of the innermost loop.
    fn next_iteration(&mut self) {}

    /// Closes the innermost loop.
    fn close_loop(&mut self) {}

    /// Whether the body of a loop of this kind is compiled once, so that Python cannot carry
    /// anything from one iteration to the next.
    fn compiles_once(&self, _kind: Self::Loop) -> bool {
        false
    }

    /// Says that a kernel asks Python for an answer, which may have to be the same in all
    /// iterations of a loop.
    ///
    /// # Errors
    /// It has to be the same, and is not.
    fn ask(&mut self, _what: &str, _answer: u64) -> Outcome<()> {
        Ok(())
    }

    /// Whether an iteration of a loop that is compiled once reads of a variable what it was before
    /// the loop, where an earlier iteration has left something else in it.
    fn reads_as_before(&mut self, _name: &str) -> bool {
        false
    }

    /// Enters a context of the language, which holds until it is left.
    fn enter(&mut self) {}

    /// Leaves the innermost context of the language.
    fn leave(&mut self) {}
}

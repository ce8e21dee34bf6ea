//! What the compiler of the first dialect asks of Python in the body of a loop that it reads once.
//!
//! Fact: the number of such a loop is a symbol. Sizes, keys of dictionaries and the whole numbers of
//! texts must be known when the body is read, so that they are the same in all iterations.

use super::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::trace::LoopKind;

/// Most answers of one loop that are compared.
const ANSWERS: usize = 4096;

/// Answers of the first iteration of a loop, each with its line.
#[derive(Default)]
pub(super) struct Answers {
    first: Vec<(u32, u64)>,
    /// Answers of the running iteration that were compared; none any more once it went another way.
    at: Option<usize>,
}

impl Answers {
    /// Begins an iteration.
    pub(super) fn begin(&mut self) {
        self.at = Some(0);
    }
}

impl Device {
    /// Requires an answer to be that of the first iteration, in each running loop whose body is
    /// compiled once; `what` names it.
    ///
    /// # Errors
    /// It is another one.
    pub(crate) fn ask(&mut self, what: &str, answer: u64) -> Outcome<()> {
        let line = self.line;
        let once = |kind| matches!(kind, LoopKind::Affine | LoopKind::Sequential);
        if self.dialect != super::Dialect::V1 {
            return Ok(());
        }
        for it in self.running.iter_mut().filter(|it| once(it.kind)) {
            let answers = &mut it.answers;
            let Some(at) = answers.at else { continue };
            if it.iteration == 0 {
                if answers.first.len() < ANSWERS {
                    answers.first.push((line, answer));
                }
                continue;
            }
            match answers.first.get(at) {
                Some(first) if *first == (line, answer) => answers.at = Some(at + 1),
                Some((same, _)) if *same == line => {
                    return Err(Failure::new(
                        FailureKind::Rejected,
                        "number-of-a-loop",
                        format!(
                            "{what} changes from iteration to iteration of a loop on the device, whose body is compiled once: its number is a symbol there"
                        ),
                        "make it the same in all iterations, or let Python loop with nl.static_range",
                    )
                    .at(line));
                }
                _ => answers.at = None,
            }
        }
        Ok(())
    }
}

//! Which elements of a tensor that several cores share one of them has touched, and at which line.

use std::ops::Range;

/// What one core did to a shared tensor since it last met the other on it.
#[derive(Debug, Default)]
pub(crate) struct Accesses {
    /// By element: the line that last read or wrote it, 0 where none did.
    touched: Touched,
    /// The elements outside of which nothing was touched.
    span: Range<usize>,
}

/// Lines by element, of a range of elements.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub(crate) first: usize,
    pub(crate) reads: Vec<u32>,
    pub(crate) writes: Vec<u32>,
}

/// An element that one core wrote and the other touched: line and whether it is a write, on either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) element: usize,
    pub(crate) own: (u32, bool),
    pub(crate) other: (u32, bool),
}

impl Accesses {
    /// Notes that a line reads or writes `run` of `count` elements.
    pub(crate) fn note(&mut self, run: Range<usize>, count: usize, line: u32, writes: bool) {
        let touched = &mut self.touched;
        touched.reads.resize(count, 0);
        touched.writes.resize(count, 0);
        let run = run.start.min(count)..run.end.min(count);
        if run.is_empty() {
            return;
        }
        self.span = match self.span.is_empty() {
            true => run.clone(),
            false => self.span.start.min(run.start)..self.span.end.max(run.end),
        };
        let lines = if writes {
            &mut touched.writes
        } else {
            &mut touched.reads
        };
        lines[run].fill(line);
    }

    /// Takes what was noted, after which nothing is.
    pub(crate) fn take(&mut self) -> Touched {
        let span = std::mem::take(&mut self.span);
        let taken = |lines: &mut Vec<u32>| {
            let part = lines.get_mut(span.clone()).unwrap_or_default();
            let copy = part.to_vec();
            part.fill(0);
            copy
        };
        Touched {
            first: span.start,
            reads: taken(&mut self.touched.reads),
            writes: taken(&mut self.touched.writes),
        }
    }
}

impl Touched {
    fn of(lines: &[u32], first: usize, element: usize) -> u32 {
        let at = element.checked_sub(first);
        at.and_then(|at| lines.get(at)).copied().unwrap_or(0)
    }

    /// The first element that both touched and at least one of them wrote.
    pub(crate) fn race(&self, other: &Self) -> Option<Race> {
        let range = self.first.max(other.first)
            ..(self.first + self.writes.len()).min(other.first + other.writes.len());
        range.into_iter().find_map(|element| {
            let lines = |it: &Self| {
                (
                    Self::of(&it.reads, it.first, element),
                    Self::of(&it.writes, it.first, element),
                )
            };
            let ((read, write), (their_read, their_write)) = (lines(self), lines(other));
            let (own, other) = match (write, their_write) {
                (0, 0) => return None,
                (0, written) if 0 < read => ((read, false), (written, true)),
                (0, _) => return None,
                (written, 0) if 0 < their_read => ((written, true), (their_read, false)),
                (_, 0) => return None,
                (one, two) => ((one, true), (two, true)),
            };
            Some(Race {
                element,
                own,
                other,
            })
        })
    }
}

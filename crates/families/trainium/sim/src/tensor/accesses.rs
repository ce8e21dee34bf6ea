//! Which elements of a tensor that several cores share one of them has touched, and at which line.

use std::ops::Range;

use super::account::Account;
use crate::diagnostic::Outcome;
use crate::number_maps::Keyed;

/// Elements of a page.
const PAGE: usize = 1024;

/// By element, the line that last read it and that which last wrote it; 0 where none did.
type Page = Box<[[u32; PAGE]; 2]>;

const PAGE_BYTES: u64 = size_of::<[[u32; PAGE]; 2]>() as u64;

/// What one core did to a shared tensor since it last met the other on it: pages of elements of
/// which any was touched.
#[derive(Debug, Default)]
pub(crate) struct Accesses(Keyed<usize, Page>);

/// An element that one core wrote and the other touched: line and whether it is a write, on either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) element: usize,
    pub(crate) own: (u32, bool),
    pub(crate) other: (u32, bool),
}

impl Accesses {
    /// Notes that a line reads or writes a run of elements, in memory that is asked for first.
    pub(crate) fn note(
        &mut self,
        run: Range<usize>,
        line: u32,
        writes: bool,
        account: &Account,
    ) -> Outcome<()> {
        let mut from = run.start;
        while from < run.end {
            let (page, at) = (from / PAGE, from % PAGE);
            let count = (PAGE - at).min(run.end - from);
            if !self.0.contains_key(&page) {
                account.hold(PAGE_BYTES)?;
            }
            let lines = self
                .0
                .entry(page)
                .or_insert_with(|| Box::new([[0; PAGE]; 2]));
            lines[usize::from(writes)][at..at + count].fill(line);
            from += count;
        }
        Ok(())
    }

    /// How many elements are looked at where two cores compare what they touched.
    pub(crate) fn looked_at(&self) -> u64 {
        (PAGE * self.0.len()) as u64
    }

    /// Takes what was noted, after which nothing is.
    pub(crate) fn take(&mut self, account: &Account) -> Self {
        account.release(PAGE_BYTES * self.0.len() as u64);
        std::mem::take(self)
    }

    /// The pages, in order.
    fn pages(&self) -> Vec<(usize, &Page)> {
        let mut pages: Vec<_> = self.0.iter().map(|(page, lines)| (*page, lines)).collect();
        pages.sort_unstable_by_key(|(page, _)| *page);
        pages
    }

    /// The elements that were written, in order.
    pub(crate) fn written(&self) -> Vec<usize> {
        let elements = self.pages().into_iter().flat_map(|(page, lines)| {
            let written = (page * PAGE..).zip(&lines[1]);
            written.filter(|(_, line)| **line != 0)
        });
        elements.map(|(element, _)| element).collect()
    }

    /// The first element that both touched and at least one of them wrote.
    pub(crate) fn race(&self, other: &Self) -> Option<Race> {
        self.pages().into_iter().find_map(|(page, own)| {
            let other = other.0.get(&page)?;
            (0..PAGE).find_map(|at| {
                let lines = |it: &Page| (it[0][at], it[1][at]);
                let (own, other) = conflict(lines(own), lines(other))?;
                Some(Race {
                    element: page * PAGE + at,
                    own,
                    other,
                })
            })
        })
    }
}

/// Of an element that two cores read and wrote at these lines: which of it does not go together.
fn conflict(own: (u32, u32), other: (u32, u32)) -> Option<((u32, bool), (u32, bool))> {
    match (own, other) {
        ((_, 0), (_, 0)) | ((0, 0), _) | (_, (0, 0)) => None,
        ((read, 0), (_, write)) => Some(((read, false), (write, true))),
        ((_, write), (read, 0)) => Some(((write, true), (read, false))),
        ((_, write), (_, their)) => Some(((write, true), (their, true))),
    }
}

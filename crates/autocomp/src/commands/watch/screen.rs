//! What the screen shows: which kernel, which of its sides, how far down.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_reports::RunData;
use autocomp_reports::change::{CONTEXT, Line};
use autocomp_runner::RunView;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is shown of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where it stands, its plan, what it changed.
    Plan,
    /// What changed in the code.
    Diff,
    /// The whole code.
    Code,
    /// Where its cost goes, line by line.
    Profile,
    /// Why it failed, and warnings.
    Findings,
    /// Prompts and replies.
    Calls,
}

impl Side {
    pub const ALL: [(&'static str, Self); 6] = [
        ("plan", Self::Plan),
        ("diff", Self::Diff),
        ("code", Self::Code),
        ("profile", Self::Profile),
        ("findings", Self::Findings),
        ("calls", Self::Calls),
    ];
}

/// What comes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The screen goes on.
    Stay,
    /// The program ends.
    Quit,
}

/// Which kernels are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Kernels of the beams below the one that they were made from.
    Tree,
    /// All kernels, cheapest first.
    All,
    /// The way to the best.
    Chain,
}

/// The state of the screen.
pub struct Screen {
    pub run: RunData,
    pub listing: Listing,
    /// Indexes of the kernels listed, with their depth in the tree.
    pub rows: Vec<(usize, usize)>,
    pub selected: usize,
    /// The first of the rows that are seen, as drawn last.
    pub first: usize,
    pub side: Side,
    pub scroll: u16,
    /// Rows that the kernel's side has room for, as drawn last.
    pub page: u16,
    pub has_help: bool,
}

impl Screen {
    pub fn new(run: RunData) -> Self {
        let mut screen = Self {
            run,
            listing: Listing::Tree,
            rows: Vec::new(),
            selected: 0,
            first: 0,
            side: Side::Plan,
            scroll: 0,
            page: 10,
            has_help: false,
        };
        screen.list();
        screen.select_best();
        screen
    }

    /// Takes news of the run in; the same kernel stays selected.
    pub fn update(&mut self, view: &RunView) {
        let source = self.kernel().map(|place| self.run.kernels[place].source);
        let was_best = self.kernel() == self.run.chain.last().copied();
        self.run.update(view);
        self.list();
        let same = |row: &(usize, usize)| Some(self.run.kernels[row.0].source) == source;
        match self.rows.iter().position(same) {
            Some(row) if !was_best => self.selected = row,
            _ => self.select_best(),
        }
    }

    /// Returns the index of the selected kernel.
    pub fn kernel(&self) -> Option<usize> {
        self.rows.get(self.selected).map(|row| row.0)
    }

    /// Returns what changed in the code of the selected kernel since its parent.
    pub fn diff(&self) -> Vec<Line> {
        let Some(kernel) = self.kernel().map(|place| &self.run.kernels[place]) else {
            return Vec::new();
        };
        let parent = self.run.parent(kernel);
        let sources = parent.map(|it| (self.run.texts.source(it), self.run.texts.source(kernel)));
        match sources {
            Some((Ok(before), Ok(after))) => self.run.difference(&before, &after, Some(CONTEXT)),
            _ => Vec::new(),
        }
    }

    pub fn press(&mut self, key: KeyEvent) -> Reaction {
        if self.has_help {
            self.has_help = false;
            return Reaction::Stay;
        }
        let last = self.rows.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Reaction::Quit;
            }
            KeyCode::Char('q') | KeyCode::Esc => return Reaction::Quit,
            KeyCode::Char('?') => self.has_help = true,
            KeyCode::Down | KeyCode::Char('j') => self.select((self.selected + 1).min(last)),
            KeyCode::Up | KeyCode::Char('k') => self.select(self.selected.saturating_sub(1)),
            KeyCode::Home | KeyCode::Char('g') => self.select(0),
            KeyCode::End | KeyCode::Char('G') => self.select(last),
            KeyCode::Char('b') => self.select_best(),
            KeyCode::Char('p') => self.select_parent(),
            KeyCode::PageDown | KeyCode::Char(' ') => {
                self.scroll = self.scroll.saturating_add(self.page.max(2) - 1);
            }
            KeyCode::PageUp => self.scroll = self.scroll.saturating_sub(self.page.max(2) - 1),
            KeyCode::Char('t') => self.change_listing(),
            KeyCode::Tab | KeyCode::Right | KeyCode::Char('l') => self.turn(1),
            KeyCode::BackTab | KeyCode::Left | KeyCode::Char('h') => self.turn(Side::ALL.len() - 1),
            KeyCode::Char(digit @ '1'..='6') => {
                let place = (digit as usize) - ('1' as usize);
                self.side = Side::ALL[place].1;
                self.scroll = 0;
            }
            _ => {}
        }
        Reaction::Stay
    }

    fn select(&mut self, row: usize) {
        self.selected = row;
        self.scroll = 0;
    }

    fn turn(&mut self, by: usize) {
        let place = Side::ALL
            .iter()
            .position(|it| it.1 == self.side)
            .unwrap_or(0);
        self.side = Side::ALL[(place + by) % Side::ALL.len()].1;
        self.scroll = 0;
    }

    fn select_kernel(&mut self, kernel: usize) {
        if let Some(row) = self.rows.iter().position(|row| row.0 == kernel) {
            self.select(row);
        }
    }

    fn select_best(&mut self) {
        if let Some(best) = self.run.chain.last() {
            self.select_kernel(*best);
        }
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
    }

    fn select_parent(&mut self) {
        let parent = self
            .kernel()
            .and_then(|place| self.run.kernels[place].parent);
        if let Some(parent) = parent {
            self.select_kernel(parent);
        }
    }

    fn change_listing(&mut self) {
        let kernel = self.kernel();
        self.listing = match self.listing {
            Listing::Tree => Listing::Chain,
            Listing::Chain => Listing::All,
            Listing::All => Listing::Tree,
        };
        self.list();
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        match kernel.filter(|it| self.rows.iter().any(|row| row.0 == *it)) {
            Some(kernel) => self.select_kernel(kernel),
            None => self.select_best(),
        }
    }

    /// Lists the kernels.
    fn list(&mut self) {
        let kernels = &self.run.kernels;
        self.rows = match self.listing {
            Listing::Chain => self.run.chain.iter().map(|place| (*place, 0)).collect(),
            Listing::All => {
                let mut places: Vec<usize> = (0..kernels.len()).collect();
                places.sort_by_key(|place| (kernels[*place].cost.is_none(), kernels[*place].cost));
                places.into_iter().map(|place| (place, 0)).collect()
            }
            Listing::Tree => {
                let mut children: Vec<Vec<usize>> = vec![Vec::new(); kernels.len()];
                let mut roots = Vec::new();
                for (place, kernel) in kernels.iter().enumerate() {
                    if kernel.beams.is_empty() && !kernel.in_chain && kernel.parent.is_some() {
                        continue;
                    }
                    match kernel.parent {
                        Some(parent) => children[parent].push(place),
                        None => roots.push(place),
                    }
                }
                let mut rows = Vec::new();
                let mut stack: Vec<(usize, usize)> = roots.into_iter().map(|it| (it, 0)).collect();
                while let Some((place, depth)) = stack.pop() {
                    rows.push((place, depth));
                    let below = &mut children[place];
                    below.sort_by_key(|it| (kernels[*it].cost.is_none(), kernels[*it].cost));
                    stack.extend(below.iter().rev().map(|it| (*it, depth + 1)));
                }
                rows
            }
        };
    }
}

//! Schedules for plain loop nests, without any model.
//!
//! A kernel that is written down plainly, as loops around a sum of products,
//! is read into a [`nest::Nest`]. A [`nest::Schedule`] says how it is carried
//! out: vectors, register tiles, panels, order of loops. Kernels that are made
//! this way carry nest and schedule in comments, so that the next step can
//! start from there; one that was changed by hand since is left alone.

mod estimate;
mod generate;
pub mod nest;
mod parse;

use autocomp_core::{ContentHash, MenuItem, PlanChoice, RewriteError, RewritePlan, Rewriter, Seed};
use nest::{Nest, Schedule};
use serde::{Deserialize, Serialize};

/// How far chance may move a schedule in the order, in units of the natural
/// logarithm of estimated cycles.
const TEMPERATURE: f64 = 0.06;
/// What it costs a schedule, in the same units, for each better one that
/// changes the same things.
const ALIKE: f64 = 0.05;
/// What it costs a change, in the same units, that no item in the menu names it.
const OFF_MENU: f64 = 0.08;
/// Schedules that a plan offers to its drafts.
const DRAFTS: usize = 2;
/// Parts of a schedule that one plan changes at most.
const MOST_CHANGES: usize = 3;

const NEST_MARK: &str = "// nest: ";
const SCHEDULE_MARK: &str = "// schedule: ";

/// Proposes schedules for loop nests.
#[derive(Clone, Debug)]
pub struct HostRewriter {
    lanes: u32,
    registers: u32,
}

/// The machine-readable form of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    /// The schedule for each draft in turn.
    drafts: Vec<Schedule>,
}

/// A schedule that could be next.
#[derive(Clone, Debug)]
struct Proposal {
    schedule: Schedule,
    /// Items of the menu that name what changes, the main one first.
    changes: Vec<&'static str>,
    score: f64,
}

impl HostRewriter {
    /// Creates a rewriter for a processor with so many vector `registers` of
    /// so many `lanes` of 32 bits.
    #[must_use]
    pub fn new(lanes: u32, registers: u32) -> Self {
        Self { lanes, registers }
    }

    /// Reads a plain kernel, or one that was made here before.
    fn read(source: &str) -> Result<(Nest, Option<Schedule>), RewriteError> {
        let marked = |mark: &str| {
            let line = source.lines().find_map(|line| line.strip_prefix(mark));
            line.map(str::to_owned)
        };
        let (Some(nest), Some(schedule)) = (marked(NEST_MARK), marked(SCHEDULE_MARK)) else {
            let nest = parse::parse(source).map_err(RewriteError::NotUnderstood)?;
            return Ok((nest, None));
        };
        let broken = |error: serde_json::Error| RewriteError::NotUnderstood(error.to_string());
        let nest: Nest = serde_json::from_str(&nest).map_err(broken)?;
        let schedule: Schedule = serde_json::from_str(&schedule).map_err(broken)?;
        if Self::write(&nest, &schedule).as_deref() != Some(source) {
            let message = "the kernel was changed since it was made of its nest and schedule";
            return Err(RewriteError::NotUnderstood(message.into()));
        }
        Ok((nest, Some(schedule)))
    }

    fn write(nest: &Nest, schedule: &Schedule) -> Option<String> {
        let code = generate::generate(nest, schedule)?;
        let nest = serde_json::to_string(nest).ok()?;
        let schedule = serde_json::to_string(schedule).ok()?;
        Some(format!(
            "// Made of a plain loop nest and a schedule. Go on by hand, or change the\n\
             // schedule and make it anew.\n{NEST_MARK}{nest}\n{SCHEDULE_MARK}{schedule}\n{code}"
        ))
    }

    /// Returns all schedules that differ from `current` in a few parts.
    fn proposals(&self, nest: &Nest, current: Option<&Schedule>) -> Vec<Proposal> {
        let Some(vector) = nest.vector_loop() else {
            return Vec::new();
        };
        let most_rows = nest.row_loops().first().map_or(1, |row| row.extent.min(16));
        let now = estimate::cycles(nest, current, self.registers);
        let mut found = Vec::new();
        for lanes in [self.lanes, self.lanes / 2, self.lanes / 4] {
            if lanes < 4 || vector.extent < lanes {
                continue;
            }
            for (rows, columns) in
                (1..=most_rows).flat_map(|rows| (1..=4).map(move |it| (rows, it)))
            {
                // One register holds what the rows are multiplied by.
                if self.registers < rows * columns + columns + 1 || vector.extent < columns * lanes
                {
                    continue;
                }
                for bits in 0..16 {
                    let schedule = Schedule {
                        lanes,
                        rows,
                        columns,
                        pack_columns: bits & 1 != 0,
                        pack_rows: bits & 2 != 0,
                        rows_outside: bits & 4 != 0,
                        unroll: if bits & 8 != 0 { 4 } else { 1 },
                    };
                    let changes = changes(current, &schedule);
                    if (1..=MOST_CHANGES).contains(&changes.len()) {
                        let then = estimate::cycles(nest, Some(&schedule), self.registers);
                        let score = (then / now).ln();
                        found.push(Proposal {
                            schedule,
                            changes,
                            score,
                        });
                    }
                }
            }
        }
        found
    }
}

/// Returns the menu items that name what changes from `before` to `after`.
fn changes(before: Option<&Schedule>, after: &Schedule) -> Vec<&'static str> {
    let plain = Schedule {
        lanes: 1,
        rows: 1,
        columns: 1,
        pack_columns: false,
        pack_rows: false,
        rows_outside: false,
        unroll: 1,
    };
    let before = before.unwrap_or(&plain);
    let mut changes = Vec::new();
    if before.lanes != after.lanes {
        changes.push("vectorize");
    }
    if (before.rows, before.columns) != (after.rows, after.columns) {
        changes.push("register-tiling");
    }
    if (before.pack_columns, before.pack_rows) != (after.pack_columns, after.pack_rows) {
        changes.push("packing");
    }
    if before.rows_outside != after.rows_outside {
        changes.push("loop-interchange");
    }
    if before.unroll != after.unroll {
        changes.push("unroll");
    }
    // The tile is what a plan is about, if it changes.
    changes.sort_by_key(|change| *change != "register-tiling");
    changes
}

/// Describes what changes, for people.
fn describe(nest: &Nest, schedule: &Schedule, changes: &[&str]) -> String {
    let vector = nest.vector_loop().map_or("", |it| &it.variable);
    let row = nest
        .row_loops()
        .first()
        .map_or("", |it| it.variable.as_str());
    let mut sentences = Vec::new();
    for change in changes {
        sentences.push(match *change {
            "vectorize" => format!("Compute {} elements along `{vector}` at once.", schedule.lanes),
            "register-tiling" => format!(
                "Keep the sums of {} iterations of `{row}` and {} vectors along `{vector}` in registers.",
                schedule.rows, schedule.columns
            ),
            "packing" => match (schedule.pack_columns, schedule.pack_rows) {
                (true, true) => "Copy both operands into panels in the order in which tiles read them.".into(),
                (true, false) => format!("Copy the operand that runs along `{vector}` into panels as wide as a tile."),
                (false, true) => format!("Copy the operand that runs along `{row}` into panels as high as a tile."),
                (false, false) => "Read operands where they lie.".into(),
            },
            "loop-interchange" if schedule.rows_outside => format!("Run over `{row}` outside, over `{vector}` inside."),
            "loop-interchange" => format!("Run over `{vector}` outside, over `{row}` inside."),
            _ if schedule.unroll == 1 => "Leave the innermost loop as it is.".into(),
            _ => format!("Write out {} iterations of the innermost loop.", schedule.unroll),
        });
    }
    sentences.join(" ")
}

/// A number with the standard Gumbel distribution.
fn gumbel(mut seed: Seed) -> f64 {
    // Never zero, so that both logarithms exist.
    let uniform = ((seed.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -(-uniform.ln()).ln()
}

impl Rewriter for HostRewriter {
    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let (nest, current) = Self::read(source)?;
        let named = |change: &str| choice.menu.iter().any(|item| item.id == change);
        let mut word = [0; 8];
        word.copy_from_slice(&ContentHash::of(source.as_bytes()).0[..8]);
        let seed = Seed(u64::from_le_bytes(word)).derive(&format!(
            "iteration {} place {}",
            choice.iteration, choice.place
        ));
        let temperature = TEMPERATURE * f64::from(1 + choice.place.min(8));
        let mut proposals = self.proposals(&nest, current.as_ref());
        for (idx, proposal) in proposals.iter_mut().enumerate() {
            proposal.score -= temperature * gumbel(seed.derive(&idx.to_string()));
            if !proposal.changes.iter().any(|change| named(change)) {
                proposal.score += OFF_MENU;
            }
        }
        let order =
            |proposals: &mut Vec<Proposal>| proposals.sort_by(|a, b| a.score.total_cmp(&b.score));
        order(&mut proposals);
        // Plans that change the same things teach less than plans that do not.
        for idx in 0..proposals.len() {
            let alike = |it: &&Proposal| it.changes == proposals[idx].changes;
            // Beyond a few the order is of no interest.
            let count = proposals[..idx.min(200)].iter().filter(alike).count();
            proposals[idx].score += ALIKE * count as f64;
        }
        order(&mut proposals);
        let first = proposals
            .get(choice.plan as usize)
            .ok_or(RewriteError::Nothing)?;
        let alike = proposals[choice.plan as usize + 1..]
            .iter()
            .filter(|it| it.changes == first.changes);
        let drafts = std::iter::once(first).chain(alike).take(DRAFTS);
        let payload = Payload {
            drafts: drafts.map(|it| it.schedule.clone()).collect(),
        };
        let menu_item = first.changes.iter().find(|change| named(change));
        Ok(RewritePlan {
            menu_item: (*menu_item.unwrap_or(&MenuItem::OTHER)).to_owned(),
            text: describe(&nest, &first.schedule, &first.changes),
            payload: serde_json::to_string(&payload)
                .map_err(|error| RewriteError::Payload(error.to_string()))?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let payload: Payload = serde_json::from_str(payload)
            .map_err(|error| RewriteError::Payload(error.to_string()))?;
        let schedule = payload
            .drafts
            .get(draft as usize)
            .ok_or(RewriteError::Nothing)?;
        let (nest, _) = Self::read(source)?;
        Self::write(&nest, schedule)
            .ok_or_else(|| RewriteError::Payload("the schedule does not fit the kernel".into()))
    }
}

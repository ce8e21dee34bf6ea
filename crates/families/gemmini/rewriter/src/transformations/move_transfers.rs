//! Moves loads and stores past neighbouring statements.

use crate::kernel::{Command, Statement};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Path, list, list_mut, list_paths};

/// Swaps the loads or stores that begin at `at` with a neighbour: `variant` 0
/// moves all that stand together there behind the statement after them, 1
/// before the statement in front of them, 2 only the last of them behind.
pub(crate) struct MoveTransfers;

impl Transformation for MoveTransfers {
    fn name(&self) -> &'static str {
        "move-transfers"
    }

    fn does(&self) -> &'static str {
        "moves loads or stores past the work on tiles beside them"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["pipeline", "reorder-computes"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for holder in list_paths(&view.kernel.body) {
            let Some(statements) = list(&view.kernel.body, &holder) else {
                continue;
            };
            let mut idx = 0;
            while idx < statements.len() {
                let length = run_length(&statements[idx..]);
                if length == 0 {
                    idx += 1;
                    continue;
                }
                let mut at = holder.clone();
                at.push(idx);
                for variant in 0..3 {
                    if variant < 2 || 1 < length {
                        steps.push(Step {
                            transformation: self.name().to_owned(),
                            at: at.clone(),
                            variant,
                            ..Step::default()
                        });
                    }
                }
                idx += length;
            }
        }
        steps.retain(|step| self.apply(view, step).is_some());
        steps
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let mut kernel = view.kernel.clone();
        let (statements, first) = list_mut(&mut kernel.body, &step.at)?;
        let length = run_length(&statements[first..]);
        if length == 0 {
            return None;
        }
        let kind = match kind(&statements[first]) {
            Some(Kind::Store) => "stores",
            _ => "loads",
        };
        let sentence = match step.variant {
            0 | 2 => {
                let moved = if step.variant == 0 { length } else { 1 };
                let next = first + length;
                is_work(statements.get(next)?).then_some(())?;
                statements[first + length - moved..=next].rotate_left(moved);
                format!(
                    "Issue the {kind} behind the work that stood after them{}.",
                    place(&step.at)
                )
            }
            1 => {
                let previous = first.checked_sub(1)?;
                is_work(statements.get(previous)?).then_some(())?;
                statements[previous..first + length].rotate_left(1);
                format!(
                    "Issue the {kind} before the work that stood before them{}.",
                    place(&step.at)
                )
            }
            _ => return None,
        };
        Some(Rewritten { kernel, sentence })
    }
}

fn place(path: &Path) -> String {
    let places: Vec<String> = path.iter().map(|idx| (idx + 1).to_string()).collect();
    format!(" (statement {})", places.join("."))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
}

/// Returns what a statement does, if it does nothing but load or store.
fn kind(statement: &Statement) -> Option<Kind> {
    match statement {
        Statement::Command(Command::MoveIn(_)) => Some(Kind::Load),
        Statement::Command(Command::MoveOut(_)) => Some(Kind::Store),
        Statement::Loop(inner) => kind_of_all(&inner.body),
        Statement::Guard(guard) if guard.otherwise.is_empty() => kind_of_all(&guard.then),
        _ => None,
    }
}

fn kind_of_all(statements: &[Statement]) -> Option<Kind> {
    let mut kinds = statements
        .iter()
        .filter(|statement| !matches!(statement, Statement::Comment(_)))
        .map(kind);
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

/// Returns how many statements from the first on load, or store.
fn run_length(statements: &[Statement]) -> usize {
    let Some(first) = statements.first().and_then(kind) else {
        return 0;
    };
    statements
        .iter()
        .take_while(|statement| kind(statement) == Some(first))
        .count()
}

/// Returns whether a statement is something to move past: work on tiles.
fn is_work(statement: &Statement) -> bool {
    matches!(statement, Statement::Loop(_) | Statement::Guard(_))
        || matches!(
            statement,
            Statement::Command(Command::MoveIn(_) | Command::MoveOut(_) | Command::Compute(_))
        )
}

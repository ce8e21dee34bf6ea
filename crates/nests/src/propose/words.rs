//! What changes from one schedule to another, by items of the menu and in words.

use super::{Change, Choices};
use crate::code::Named;
use crate::forms::Form;
use crate::nest::Nest;
use crate::region::Region;
use crate::schedule::{Part, Product, Schedule, Wide};
use crate::vectors::Dots;
use std::collections::BTreeMap;

pub(super) fn product_changes(before: &Product, after: &Product) -> Vec<Change> {
    let mut changes = Vec::new();
    if (before.rows, before.columns) != (after.rows, after.columns) {
        changes.push(Change::RegisterTiling);
    }
    if before.dots != after.dots {
        changes.push(Change::DotProducts);
    }
    if before.lanes != after.lanes {
        changes.push(Change::Vectorize);
    }
    if (before.pack_columns, before.pack_rows) != (after.pack_columns, after.pack_rows) {
        changes.push(Change::Packing);
    }
    if (before.depth, before.block) != (after.depth, after.block) {
        changes.push(Change::CacheTiling);
    }
    if before.rows_outside != after.rows_outside {
        changes.push(Change::LoopInterchange);
    }
    if before.unroll != after.unroll {
        changes.push(Change::Unroll);
    }
    changes
}

const NOTHING: Product = Product {
    lanes: 1,
    rows: 1,
    columns: 1,
    pack_columns: false,
    pack_rows: false,
    rows_outside: false,
    unroll: 1,
    depth: 0,
    block: 0,
    dots: None,
    halves: false,
};

/// Returns the menu items that name what changes, and a text for people.
pub(super) fn differences(
    current: Option<&Schedule>,
    after: &Schedule,
    choices: &Choices,
) -> (Vec<Change>, String) {
    let mut changes: Vec<Change> = Vec::new();
    let mut sentences: Vec<String> = Vec::new();
    let known = current.map_or(&[][..], |it| &it.forms);
    for form in after.forms.iter().filter(|it| !known.contains(it)) {
        changes.push(match form {
            Form::WrittenOut => Change::Unroll,
            Form::Apart => Change::LoopInterchange,
            Form::Tables => Change::Other,
        });
        sentences.push(form.text().to_owned());
    }
    if known.iter().any(|it| !after.forms.contains(it)) {
        changes.push(Change::Other);
        sentences.push("Begin with the kernel as it is written.".into());
    }
    let strip = current.map_or(0, |it| it.strip);
    if strip != after.strip {
        changes.push(Change::CacheTiling);
        sentences.push(match after.strip {
            0 => "Run through the outermost loop once, with all parts inside.".into(),
            strip => format!(
                "Take {strip} iterations of the outermost loop at a time; each part does all of them, and what they leave lies in arrays between the parts."
            ),
        });
    }
    for (idx, part) in after.parts.iter().enumerate() {
        let before = current
            .filter(|it| it.strip == after.strip && it.forms == after.forms)
            .and_then(|it| it.parts.get(idx))
            .unwrap_or(&Part::Plain);
        if before == part {
            continue;
        }
        let (found, text) = describe(&choices.parts[idx].1, &choices.names, before, part);
        for change in found {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        sentences.extend(text.into_iter().filter(|it| !it.is_empty()));
    }
    sentences.dedup();
    (changes, sentences.join(" "))
}

/// Describes what changes in one part.
fn describe(
    region: &Region,
    names: &BTreeMap<String, Named>,
    before: &Part,
    after: &Part,
) -> (Vec<Change>, Vec<String>) {
    match (region, after) {
        (Region::Product(nest), Part::Product(schedule)) => {
            let before = match before {
                Part::Product(before) => before,
                _ => &NOTHING,
            };
            let changes = product_changes(before, schedule);
            let text = changes
                .iter()
                .map(|it| product_text(nest, names, schedule, *it))
                .collect();
            (changes, text)
        }
        (_, Part::Turn(turn)) if 0 < turn.segments => (
            vec![Change::StripMining],
            vec![format!(
                "Load {} rows side by side and store them as fields of segments, block by block{}.",
                turn.segments,
                if turn.columns_outside {
                    ", column by column of blocks"
                } else {
                    ""
                }
            )],
        ),
        (_, Part::Turn(turn)) if turn.strided => (
            vec![Change::Vectorize],
            vec![format!(
                "Read {} elements of a column at once and write them side by side.",
                turn.lanes
            )],
        ),
        (_, Part::Turn(turn)) => (
            vec![Change::TransposeInRegisters],
            vec![format!(
                "Move square tiles of {0}x{0} elements: read and write whole vectors and turn them in registers{1}.",
                turn.lanes,
                if turn.columns_outside {
                    ", column by column of tiles"
                } else {
                    ""
                }
            )],
        ),
        (_, Part::Tables(count)) => (
            vec![Change::PrivateCopies, Change::MoreSums],
            vec![format!(
                "Count in {count} tables by turns and add them up at the end, so that no change waits for the one before."
            )],
        ),
        (_, Part::Jam(count)) => (
            vec![Change::UnrollAndJam, Change::MoreSums],
            vec![format!(
                "Do {count} iterations of the outer loop side by side, so that their sums do not wait for one another."
            )],
        ),
        (_, Part::Lengths(strips)) => {
            let mut changes = vec![Change::StripMining];
            let mut text = format!(
                "Compute as many elements at once as {} registers hold",
                strips.registers
            );
            if 1 < strips.rows {
                changes.push(Change::UnrollAndJam);
                text += &format!(
                    ", {} iterations of the outer loop side by side",
                    strips.rows
                );
            }
            if strips.ahead {
                text += ", with loads a strip ahead";
            }
            if strips.reciprocals {
                text += ", multiplying by reciprocals instead of dividing";
            }
            (changes, vec![text + "."])
        }
        (region, Part::Vectors(wide)) => {
            let chain = match region {
                Region::Wide(it) | Region::Jam(_, Some(it)) => it.is_chain(),
                _ => false,
            };
            let mut changes = vec![Change::Vectorize];
            let mut text = format!("Compute {} elements at once", wide.lanes);
            if wide.halves {
                text += " in 16 bits";
            }
            if wide.reciprocals {
                text += ", multiplying by reciprocals instead of dividing";
            }
            if wide.strided {
                text += ", with loads that take elements some places apart";
            }
            if 1 < wide.count {
                changes.push(if chain {
                    Change::MoreSums
                } else {
                    Change::Unroll
                });
                text += &match chain {
                    true => format!(", with {} vectors of partial results", wide.count),
                    false => format!(", {} vectors in an iteration", wide.count),
                };
            }
            let with_count = |old: &Wide| Wide {
                count: wide.count,
                ..old.clone()
            };
            if let Part::Vectors(old) = before
                && with_count(old) == *wide
            {
                changes.remove(0);
                if changes.is_empty() {
                    changes.push(Change::Unroll);
                }
            }
            (changes, vec![text + "."])
        }
        _ => (
            vec![Change::Other],
            vec!["Leave a loop as it is written.".into()],
        ),
    }
}

fn product_text(
    nest: &Nest,
    names: &BTreeMap<String, Named>,
    schedule: &Product,
    change: Change,
) -> String {
    let Some(vector) = nest.vector_loop(names) else {
        return String::new();
    };
    let row = nest.row_loop(vector).map_or("", |it| it.variable.as_str());
    let vector = &vector.variable;
    match change {
        Change::Vectorize => format!("Compute {} elements along `{vector}` at once.", schedule.lanes),
        Change::RegisterTiling if row.is_empty() => format!(
            "Keep {} vectors of sums along `{vector}` in registers.",
            schedule.columns
        ),
        Change::RegisterTiling => format!(
            "Keep the sums of {} iterations of `{row}` and {} vectors along `{vector}` in registers.",
            schedule.rows, schedule.columns
        ),
        Change::DotProducts => match schedule.dots {
            Some(Dots::Words) => "Widen to 16 bits while packing, and sum pairs of products with one instruction.".into(),
            Some(_) => "Lay groups of four bytes side by side, and sum their products with one instruction.".into(),
            None => "Widen bytes and multiply them one by one.".into(),
        },
        Change::Packing => match (schedule.pack_columns, schedule.pack_rows) {
            (true, true) => "Copy both operands into panels in the order in which tiles read them.".into(),
            (true, false) => format!("Copy the operand that runs along `{vector}` into panels as wide as a tile."),
            (false, true) => format!("Copy the operand that runs along `{row}` into panels as high as a tile."),
            (false, false) => "Read operands where they lie.".into(),
        },
        Change::CacheTiling => match (schedule.depth, schedule.block) {
            (0, 0) => "Work on whole operands instead of blocks.".into(),
            (0, block) => format!("Pack and use {block} tiles of rows at a time, which stay in the cache."),
            (depth, 0) => format!("Sum {depth} products at a time, with panels that stay in the cache."),
            (depth, block) => format!("Sum {depth} products at a time, over {block} tiles of rows, with panels that stay in the cache."),
        },
        Change::LoopInterchange if schedule.rows_outside => format!("Run over `{row}` outside, over `{vector}` inside."),
        Change::LoopInterchange => format!("Run over `{vector}` outside, over `{row}` inside."),
        _ if schedule.unroll == 1 => "Leave the innermost loop as it is.".into(),
        _ => format!("Write out {} iterations of the innermost loop.", schedule.unroll),
    }
}

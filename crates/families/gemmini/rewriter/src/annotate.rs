//! Tells readers of a kernel what lies where in the local memories.

use crate::analysis::Analysis;
use crate::kernel::{Command, Kernel, Memory, Statement, count_commands};
use crate::limits::HardwareLimits;
use crate::syntax::{children, syntax_tree};
use crate::walk::{Event, Issue, Program};

/// How each of these comments begins, so that a later one replaces it.
const PREFIX: &str = "// Local memory: ";

/// The most commands and iterations that are counted.
const EVENT_LIMIT: usize = 1 << 20;

/// Puts a comment for each buffer at the head of the kernel, in the place of
/// those that are there, and what it moves above the function.
pub fn annotate(kernel: &mut Kernel, limits: &HardwareLimits) {
    if let Some(prefix) = with_header(&kernel.prefix, &header(kernel)) {
        kernel.prefix = prefix;
    }
    kernel.body.retain(|statement| {
        !matches!(statement, Statement::Comment(comment) if comment.starts_with(PREFIX))
    });
    let Some(comments) = comments(kernel, limits) else {
        return;
    };
    kernel
        .body
        .splice(0..0, comments.into_iter().map(Statement::Comment));
}

fn comments(kernel: &Kernel, limits: &HardwareLimits) -> Option<Vec<String>> {
    let analysis = Analysis::of(kernel, limits)?;
    let comments = analysis.buffers.iter().filter_map(|buffer| {
        let bank_rows = limits.bank_rows(buffer.memory).max(1);
        let mut banks: Vec<String> = Vec::new();
        for row in buffer.rows.iter() {
            let bank = (row as i64 / bank_rows).to_string();
            if banks.last() != Some(&bank) {
                banks.push(bank);
            }
        }
        let memory = match buffer.memory {
            Memory::Scratchpad => "scratchpad",
            Memory::Accumulator => "accumulator",
        };
        let what = match buffer.arrays.as_slice() {
            [] => "data".to_owned(),
            arrays => arrays.join(" and "),
        };
        let plural = if banks.len() == 1 { "bank" } else { "banks" };
        Some(format!(
            "{PREFIX}{what} in {} {memory} rows from {} to {} ({plural} {}).",
            buffer.rows.count(),
            buffer.rows.first()?,
            buffer.rows.last()?,
            banks.join(", ")
        ))
    });
    Some(comments.collect())
}

/// Returns lines that describe the kernel: its loops, and how often it moves
/// each array.
fn header(kernel: &Kernel) -> Vec<String> {
    let mut loops = Vec::new();
    let mut body = &kernel.body;
    while let Some(inner) = body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Loop(inner) => Some(inner),
            _ => None,
        })
        .max_by_key(|inner| (count_commands(&inner.body), inner.trips()))
    {
        loops.push(format!("{} ({})", inner.variable, inner.trips()));
        body = &inner.body;
    }
    let mut lines = vec![match loops.is_empty() {
        true => "// Without loops.".to_owned(),
        false => format!(
            "// Loops with their iterations, from the outside: {}.",
            loops.join(", ")
        ),
    }];
    if let Some(moves) = moves(kernel) {
        lines.push(format!("// {moves}"));
    }
    lines
}

/// Returns a sentence on how often each array is moved.
fn moves(kernel: &Kernel) -> Option<String> {
    let mut moved = vec![[0i64; 2]; kernel.arrays.len()];
    Program::of(kernel)?.run(&mut { EVENT_LIMIT }, &mut |event| {
        if let Event::Issue(Issue {
            command,
            place: Some(place),
            ..
        }) = event
        {
            let (way, elements) = match command {
                Command::MoveIn(load) => (0, load.columns * load.rows),
                Command::MoveOut(store) => (1, store.columns * store.rows),
                _ => return Some(()),
            };
            moved.get_mut(place.array)?[way] += elements;
        }
        Some(())
    })?;
    let mut parts = Vec::new();
    for (array, moved) in kernel.arrays.iter().zip(moved) {
        let size = array.extents.iter().product::<i64>().max(1) as f64;
        for (elements, way) in moved.into_iter().zip(["in", "out"]) {
            if 0 < elements {
                let times = elements as f64 / size;
                parts.push(format!("{} {way} {times:.1} times", array.name));
            }
        }
    }
    (!parts.is_empty()).then(|| format!("Moves {}.", parts.join(", ")))
}

/// Returns the text with other comments directly above its last function.
pub(crate) fn with_header(prefix: &str, lines: &[String]) -> Option<String> {
    let text = format!("{prefix}}}");
    let tree = syntax_tree(&text)?;
    let nodes = children(tree.root_node());
    let place = nodes
        .iter()
        .rposition(|node| node.kind() == "function_definition")?;
    let end = nodes[place].start_byte();
    let mut start = end;
    for node in nodes[..place].iter().rev() {
        let between = text.get(node.end_byte()..start)?;
        if node.kind() != "comment" || 1 < between.matches('\n').count() {
            break;
        }
        start = node.start_byte();
    }
    let mut result = prefix.get(..start)?.to_owned();
    for line in lines {
        result.push_str(line);
        result.push('\n');
    }
    result.push_str(prefix.get(end..)?);
    Some(result)
}

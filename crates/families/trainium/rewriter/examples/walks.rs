//! Looks for wrong changes of the rewriter behind other changes: `walks FIRST_SEED WALKS LENGTH
//! FILE…`. The first line of each file names its inputs, as for `file-gains`.
//!
//! A walk begins at the kernel's plain form or at the kernel, and takes one change after the other
//! at random. Results are compared with those of the file: off by more than 1e-3 of the largest
//! value (2e-2 of two-byte results, or after types were narrowed) is wrong. A walk ends at a wrong
//! kernel, which is printed with the one before it and the names of all changes on the way.

#[path = "../tests/suite/difference.rs"]
mod difference;
#[path = "../tests/suite/file.rs"]
mod file;

use std::io::Write as _;

use autocomp_core::Seed;
use autocomp_trainium_rewriter::NkiRewriter;
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{Array, Options, evaluate, parse_inputs};

fn outputs(source: &str, inputs: &str, machine: &Machine) -> Result<Vec<Array>, String> {
    let inputs = parse_inputs(inputs, Some(1)).map_err(|it| it.to_string())?;
    let options = Options {
        generation: machine.generation,
        ..Options::default()
    };
    let found = evaluate(source, "solution", &inputs, &options);
    found.map(|it| it.outputs).map_err(|it| it.to_string())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: walks FIRST_SEED WALKS LENGTH FILE…";
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let first = number().ok_or(usage)?;
    let walks = number().ok_or(usage)?;
    let length = number().ok_or(usage)?;
    let mut out = std::io::stdout().lock();
    for path in arguments {
        let source = std::fs::read_to_string(&path)?;
        let inputs = file::inputs(&source).ok_or(usage)?;
        let machine = Machine::built_in(file::machine(&source))?;
        let right = outputs(&source, inputs, &machine)?;
        if difference::difference(&right, &right) > 0.0 {
            writeln!(
                out,
                "{path}: its own results on these inputs are no numbers"
            )?;
            continue;
        }
        let rewriter = NkiRewriter::new("solution", file::shapes(inputs)?, machine.clone(), 0.01);
        let (mut taken, mut wrong) = (0, 0);
        for seed in first..first + walks {
            let mut random = Seed(seed).derive("walk");
            let mut below = |count: usize| (random.next_u64() % count as u64) as usize;
            let mut at = match below(2) {
                0 => source.clone(),
                _ => rewriter.plain(&source)?,
            };
            let mut names: Vec<String> = Vec::new();
            for _ in 0..length {
                let mut changes = rewriter.single_changes(&at)?;
                // One kind after the other has its turn, however many changes there are of it.
                let mut kinds: Vec<String> = changes.iter().map(|it| it.0.clone()).collect();
                kinds.sort();
                kinds.dedup();
                if kinds.is_empty() {
                    break;
                }
                let kind = kinds.swap_remove(below(kinds.len()));
                changes.retain(|it| it.0 == kind);
                let (name, sentence, text) = changes.swap_remove(below(changes.len()));
                taken += 1;
                names.push(name);
                let allowed = match names.iter().any(|it| it.contains("narrow"))
                    || right.iter().any(|it| it.dtype.bytes() <= 2)
                {
                    true => 2e-2,
                    false => 1e-3,
                };
                let found = outputs(&text, inputs, &machine);
                let off = match &found {
                    Ok(found) => difference::difference(found, &right),
                    Err(_) => f32::INFINITY,
                };
                // Infinite where it is no number.
                if allowed < off {
                    wrong += 1;
                    let why = found.err().unwrap_or_default();
                    writeln!(
                        out,
                        "{path}, seed {seed}, {}: {sentence} off by {off} {why}\n--- before\n{at}\n--- after\n{text}\n---",
                        names.join(" + ")
                    )?;
                    break;
                }
                at = text;
            }
        }
        writeln!(out, "{path}: {taken} changes, {wrong} wrong")?;
        out.flush()?;
    }
    Ok(())
}

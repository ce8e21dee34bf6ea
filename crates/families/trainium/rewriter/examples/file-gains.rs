//! What the rewriter gains on kernels that belong to no problem: `file-gains EVALUATIONS FOLDER
//! FILE…`. The first line of each file names its inputs: `# inputs: a:bf16[512,4096];g:f32[4096]`.
//!
//! Results are compared with those of the file as it is, on inputs of two seeds: off by more than
//! 1e-3 of the largest value (2e-2 of two-byte results, or after types were narrowed) is wrong.
//! Types of products are tried on inputs of a third seed. Prints a row for each file, as `gains`
//! does; the best kernels are written to the folder, and those that are wrong.

mod climb;
#[path = "../tests/suite/difference.rs"]
mod difference;
#[path = "../tests/suite/file.rs"]
mod file;

use std::io::Write as _;

use autocomp_catalog::Catalog;
use autocomp_core::Rewriter as _;
use autocomp_trainium_rewriter::{NkiRewriter, Trial};
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Array, Options, evaluate, parse_inputs};

/// Seeds of the inputs.
const SEEDS: [u64; 2] = [1, 2];
/// Seed of the inputs that types of products are tried on.
const TRIAL_SEED: u64 = 3;
/// What results may be off by, of the largest value.
const EXACT: f32 = 1e-3;
const NARROW: f32 = 2e-2;

/// What a kernel returns on the inputs of each seed, and nanoseconds.
struct Run {
    outputs: Vec<Vec<Array>>,
    nanoseconds: f64,
}

fn run(source: &str, inputs: &str, machine: &Machine) -> Result<Run, Box<dyn std::error::Error>> {
    let options = Options {
        generation: machine.generation,
        ..Options::default()
    };
    let mut outputs = Vec::new();
    let mut nanoseconds = 0.0;
    for seed in SEEDS {
        let inputs = parse_inputs(inputs, Some(seed))?;
        let found = evaluate(source, "solution", &inputs, &options)?;
        if seed == SEEDS[0] {
            nanoseconds = time(&found.trace, machine, Passes::of(&found)).latency_ns;
        }
        outputs.push(found.outputs);
    }
    Ok(Run {
        outputs,
        nanoseconds,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: file-gains EVALUATIONS FOLDER FILE…";
    let most: usize = arguments.next().ok_or(usage)?.parse()?;
    let folder = std::path::PathBuf::from(arguments.next().ok_or(usage)?);
    std::fs::create_dir_all(&folder)?;
    let catalog = Catalog::built_in()?;
    let mut out = std::io::stdout().lock();
    for path in arguments {
        let source = std::fs::read_to_string(&path)?;
        let inputs = file::inputs(&source).ok_or(usage)?;
        let machine = file::machine(&source);
        let target = catalog.target(&format!("trainium-{machine}"))?;
        let machine = Machine::built_in(machine)?;
        let Run {
            outputs: right,
            nanoseconds: first,
        } = match run(&source, inputs, &machine) {
            Ok(found) => found,
            Err(error) => {
                writeln!(out, "| `{path}` | does not run: {error} |")?;
                continue;
            }
        };
        let drawn = inputs.to_owned();
        let draw = move || {
            let inputs = parse_inputs(&drawn, Some(TRIAL_SEED)).into_iter();
            inputs.collect::<Vec<_>>()
        };
        let trial = Trial::new(source.clone(), draw, |found, right| {
            f64::from(difference::difference(found, right)) <= Trial::SHARE * f64::from(NARROW)
        });
        let rewriter = NkiRewriter::new("solution", file::shapes(inputs)?, machine.clone(), 0.01)
            .with_trial(trial);
        for it in rewriter.not_understood(&source) {
            writeln!(out, "<!-- {path}, line {}: {} -->", it.line, it.reason)?;
        }
        let name = std::path::Path::new(&path);
        let name = name.file_stem().ok_or(usage)?.to_string_lossy();
        let mut wrong = 0;
        let found = climb::climb(&rewriter, &target.menu, &source, first, most, |draft| {
            let Run {
                outputs: found,
                nanoseconds: cost,
            } = match run(draft, inputs, &machine) {
                Ok(found) => found,
                Err(error) => return Ok(Err(error.to_string())),
            };
            let two_bytes = right.iter().flatten().any(|it| it.dtype.bytes() < 4);
            let narrow = two_bytes || draft.contains("bfloat16") && !source.contains("bfloat16");
            let most = if narrow { NARROW } else { EXACT };
            let pairs = found.iter().zip(&right);
            let off = pairs.map(|(f, r)| difference::difference(f, r));
            let off = off.fold(0.0, f32::max);
            if off <= most {
                return Ok::<_, std::io::Error>(Ok(cost));
            }
            wrong += 1;
            std::fs::write(folder.join(format!("{name}-wrong-{wrong}.py")), draft)?;
            Ok(Err(format!("off by {off}")))
        })?;
        std::fs::write(folder.join(format!("{name}.py")), &found.text)?;
        writeln!(out, "{}", found.row(&path))?;
        out.flush()?;
    }
    Ok(())
}

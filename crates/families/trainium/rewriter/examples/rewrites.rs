//! Lists what the rewriter would do to a kernel: `rewrites FILE ENTRY INPUTS [NAME]`; with a name
//! of a transformation, the kernels that it leads to; with `plain`, those of the form that is made
//! before anything else.

use std::io::Write as _;

use autocomp_core::Rewriter as _;
use autocomp_trainium_rewriter::{InputShape, NkiRewriter};
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{Input, parse_inputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, entry, inputs, wanted @ ..] = &arguments[..] else {
        return Err("usage: rewrites FILE ENTRY INPUTS [NAME]".into());
    };
    let mut source = std::fs::read_to_string(file)?;
    let mut shapes = Vec::new();
    for (name, input) in parse_inputs(inputs, None)? {
        if let Input::Array(array) = input {
            shapes.push(InputShape {
                name,
                dtype: array.dtype,
                shape: array.shape,
            });
        }
    }
    let machine = match source.contains("neuronxcc") {
        true => "trn1",
        false => "trn2",
    };
    let rewriter = NkiRewriter::new(entry, shapes, Machine::built_in(machine)?, 0.01);
    let mut out = std::io::stdout().lock();
    if wanted.iter().any(|it| it == "plain") {
        source = rewriter.plain(&source)?;
        writeln!(out, "{source}")?;
    }
    for it in rewriter.not_understood(&source) {
        writeln!(out, "line {}: {}", it.line, it.reason)?;
    }
    for (name, sentence, text) in rewriter.single_changes(&source)? {
        writeln!(out, "{name}: {sentence}")?;
        if wanted.contains(&name) {
            writeln!(out, "{text}")?;
        }
    }
    let start = std::time::Instant::now();
    let drafted = rewriter.drafted(&source)?;
    writeln!(out, "{drafted:?} in {:.1?}", start.elapsed())?;
    Ok(())
}

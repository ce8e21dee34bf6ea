//! Lists what the rewriter would do to a kernel: `rewrites FILE ENTRY INPUTS [NAME]`; with a name
//! of a transformation, the kernels that it leads to; with `plain`, those of the form that is made
//! before anything else.

#[path = "../tests/suite/file.rs"]
mod file;

use std::io::Write as _;

use autocomp_core::Rewriter as _;
use autocomp_trainium_rewriter::NkiRewriter;
use autocomp_trainium_sim::timing::Machine;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, entry, inputs, wanted @ ..] = &arguments[..] else {
        return Err("usage: rewrites FILE ENTRY INPUTS [NAME]".into());
    };
    let mut source = std::fs::read_to_string(path)?;
    let machine = Machine::built_in(file::machine(&source))?;
    let shapes = file::shapes(inputs)?;
    let rewriter = NkiRewriter::new(entry, shapes, machine, 0.01);
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

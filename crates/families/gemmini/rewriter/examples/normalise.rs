//! Writes the plain form in which the rewriter reads a kernel to standard
//! output, and what it does not understand to standard error:
//! `cargo run --features examples --example normalise KERNEL [ENTRY]`.

use autocomp_gemmini_rewriter::{GemminiRewriter, HardwareLimits, Vocabulary};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("a kernel is missing")?;
    let source = std::fs::read_to_string(path)?;
    let mut vocabulary = Vocabulary::default();
    if let Some(entry) = arguments.next() {
        vocabulary.entry = entry;
    }
    vocabulary.signature = arguments.next().unwrap_or_default();
    let rewriter = GemminiRewriter::new(HardwareLimits::gemmini_int8_16());
    let rewriter = rewriter.with_vocabulary(vocabulary);
    let (text, unread) = rewriter.normalised(&source)?;
    std::io::stdout().write_all(text.as_bytes())?;
    for unread in unread {
        writeln!(std::io::stderr(), "line {}: {}", unread.line, unread.reason)?;
    }
    Ok(())
}

//! Tells readers of a kernel what lies where in the local memories.

use crate::analysis::Analysis;
use crate::kernel::{Kernel, Memory, Statement};
use crate::limits::HardwareLimits;

/// How each of these comments begins, so that a later one replaces it.
const PREFIX: &str = "// Local memory: ";

/// Puts a comment for each buffer at the head of the kernel, in the place of
/// those that are there.
pub(crate) fn annotate(kernel: &mut Kernel, limits: &HardwareLimits) {
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
            buffer.rows.len(),
            buffer.rows.first()?,
            buffer.rows.last()?,
            banks.join(", ")
        ))
    });
    Some(comments.collect())
}

#[cfg(test)]
mod tests {
    use super::annotate;
    use crate::limits::HardwareLimits;
    use crate::parse::parse;
    use crate::print::print;

    #[test]
    fn comments_are_replaced_and_not_repeated() {
        let source = "void solution(int8_t A[16][64]) {\n    mvin(&A[0][0], 4096, 64, 16);\n}\n";
        let limits = HardwareLimits::gemmini_int8_16();
        let mut kernel = parse(source).expect("parses");
        annotate(&mut kernel, &limits);
        let once = print(&kernel);
        assert!(
            once.contains("// Local memory: A in 64 scratchpad rows from 4096 to 4159 (bank 1).\n")
        );
        let mut again = parse(&once).expect("parses");
        annotate(&mut again, &limits);
        assert_eq!(print(&again), once);
    }
}

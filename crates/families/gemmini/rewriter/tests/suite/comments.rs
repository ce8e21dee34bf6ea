//! Comments that are written above a kernel.

use crate::parse;
use autocomp_gemmini_rewriter::HardwareLimits;
use autocomp_gemmini_rewriter::inside::annotate;
use autocomp_gemmini_rewriter::inside::print;

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
    assert!(once.starts_with("// Without loops.\n// Moves A in 1.0 times.\nvoid solution("));
    let mut again = parse(&once).expect("parses");
    annotate(&mut again, &limits);
    assert_eq!(print(&again), once);
}

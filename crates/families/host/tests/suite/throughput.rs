//! What llvm-mca prints.

use autocomp_host::inside::read_throughput as read;
use std::path::Path;

#[test]
fn figures_are_read() {
    let output = "Iterations:        100\nInstructions:      500\nTotal Cycles:      412\n\
        Total uOps:        600\n\nDispatch Width:    6\nuOps Per Cycle:    1.46\nIPC:               1.21\n\
        Block RThroughput: 1.0\n";
    let found = read(output, Path::new("/usr/bin/llvm-mca")).expect("figures");
    assert_eq!((found.block, found.cycles), (1.0, 4.12));
    assert_eq!(
        read("error: unknown instruction", Path::new("llvm-mca")),
        None
    );
}

//! The innermost loop in an assembly text.

use autocomp_host::hot_loop::find;

const TEXT: &str = "\
solution:
.LBB0_1:                                # =>This Loop Header: Depth=1
\txorl\t%ecx, %ecx
.LBB0_2:                                #   Parent Loop BB0_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
\t.loc\t1 7 3
\tvmovups\t(%rdi,%rcx), %zmm0
\tvfmadd231ps\t(%rsi){1to16}, %zmm0, %zmm1
\tvmovups\t%zmm1, 64(%rsp)
\taddq\t$64, %rcx
\tjne\t.LBB0_2
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
";

#[test]
fn the_innermost_loop_is_found_and_counted() {
    let found = find(TEXT, "solution").expect("a loop");
    assert_eq!(found.instructions, 5);
    assert_eq!((found.arithmetic, found.loads, found.stores), (1, 2, 1));
    assert_eq!((found.width, found.spills, found.line), (512, 1, Some(7)));
}

#[test]
fn without_a_loop_there_is_none() {
    assert_eq!(find("solution:\n\tretq\n.Lfunc_end0:\n", "solution"), None);
    assert_eq!(find(TEXT, "other"), None);
}

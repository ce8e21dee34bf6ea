//! The innermost loops in an assembly text.

use autocomp_host::innermost_loops::innermost_loops;

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
    let loops = innermost_loops(TEXT, "solution");
    let [found] = loops.as_slice() else {
        panic!("{loops:?}");
    };
    assert_eq!(found.instructions, 5);
    assert_eq!((found.arithmetic, found.loads, found.stores), (1, 2, 1));
    assert_eq!((found.width, found.spills, found.line), (512, 1, Some(7)));
}

#[test]
fn without_a_loop_there_is_none() {
    let nothing = "solution:\n\tretq\n.Lfunc_end0:\n";
    assert_eq!(innermost_loops(nothing, "solution"), []);
    assert_eq!(innermost_loops(TEXT, "other"), []);
}

/// A loop with much arithmetic and one that calls a function: nothing says which is hot, so
/// both are told.
#[test]
fn a_loop_that_calls_is_told_beside_one_with_arithmetic() {
    let calling = ".LBB0_3:                                # =>This Inner Loop Header: Depth=1\n\
        \t.loc\t1 9 5\n\tvmovss\t(%rbx), %xmm0\n\tcallq\texpf\n\tvmovss\t%xmm0, (%rbx)\n\
        \taddq\t$4, %rbx\n\tjne\t.LBB0_3\n\tretq\n";
    let text = TEXT.replacen("\tretq\n", calling, 1);
    let loops = innermost_loops(&text, "solution");
    let told: Vec<_> = loops
        .iter()
        .map(|it| (it.line, it.arithmetic, it.calls))
        .collect();
    assert_eq!(told, [(Some(7), 1, 0), (Some(9), 0, 1)]);
}

//! Kernels with intrinsics are texts of anybody: reading takes a bounded number of steps.

use autocomp_catalog::Catalog;
use autocomp_rvv_rewriter::{plain, resized};

/// Each argument of each call is left out in turn.
#[test]
fn calls_with_an_argument_less_are_read_or_refused() {
    let catalog = Catalog::built_in().expect("built-in data");
    let mut count = 0;
    for name in catalog.problem_names().filter(|it| it.starts_with("rvv/")) {
        let problem = catalog.problem(name).expect("a problem");
        for text in problem.kernels.values() {
            let begins = text.match_indices(['(', ',']).map(|it| it.0 + 1);
            for begin in begins.filter(|_| text.contains("__riscv_v")) {
                let rest = &text[begin..];
                let end = rest.find([',', ')', ';']).unwrap_or(rest.len());
                let behind = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
                let _ = plain(&format!("{}{behind}", &text[..begin]));
                count += 1;
            }
        }
    }
    assert!(500 < count, "{count}");
}

/// Returns a kernel that begins with `head` and goes on with as many of `each` as fit, `@` of which
/// is a number.
fn many(head: &str, each: &str) -> String {
    let mut source = format!("void solution(int32_t X[500], int32_t Y[500]) {{ {head}\n");
    for number in 0.. {
        let next = each.replace('@', &number.to_string());
        if (1 << 16) < source.len() + next.len() + 4 {
            break;
        }
        source += &next;
    }
    source + "}\n"
}

#[test]
fn masked_reductions_within_each_other_are_read_once() {
    let mut value = "x".to_owned();
    for _ in 0..20 {
        value = format!(
            "__riscv_vslide1up_vx_i32m1(__riscv_vredsum_vs_i32m1_i32m1_m(m, x, {value}, vl), 0, vl)"
        );
    }
    let source = format!(
        "void solution(int32_t X[100], int32_t Y[100]) {{\n  for (size_t i = 0, vl; i < 100; i += vl) {{ vl = __riscv_vsetvl_e32m1(100 - i); vint32m1_t x = __riscv_vle32_v_i32m1(&X[i], vl); vbool32_t m = __riscv_vmsne_vx_i32m1_b32(x, 0, vl); __riscv_vse32_v_i32m1(&Y[i], {value}, vl); }}\n}}\n"
    );
    assert!(
        plain(&source)
            .expect("a plain kernel")
            .contains("Y[i] = 0;")
    );
}

/// Each statement is compared with the loop in front of it, each name with where it stands: texts
/// of the greatest size take moments, where it was minutes.
#[test]
fn thousands_of_statements_are_read() {
    let most = "size_t vl = __riscv_vsetvlmax_e8m1();";
    let rests = many(&format!("{most} size_t i = 0;"), "for(;i<9;i+=vl);\n");
    let made = plain(&rests).expect("a plain kernel");
    assert_eq!(made.matches("for").count(), 1);
    assert_eq!(made.lines().count(), rests.lines().count());
    let pointers = many(most, "int*a@=X;for(size_t i=0;i<9;i+=vl){a@+=vl;}");
    let made = plain(&pointers).expect("a plain kernel");
    assert_eq!(
        made.matches("i < 9; i += 1").count(),
        made.matches("for").count()
    );
    let offsets = many(
        &format!("{most} vint8m1_t b;"),
        "vint8m1_t a@=__riscv_vsll_vx_i8m1(b,1,vl);",
    );
    assert!(plain(&offsets).is_ok());
    let jumps = many("for(int i=0;i<9;i++){", "if(X[i])break;");
    assert!(plain(&format!("{jumps}}}")).is_ok());
}

#[test]
fn groups_of_no_size_are_left_alone() {
    for word in [
        "i0m1",
        "i32m8x4294967295",
        "i7m2",
        "i32m8x0",
        "b0",
        "b4294967295",
        "i99999999999m1",
    ] {
        let source = format!(
            "void solution(int32_t X[1]) {{ __riscv_vle32_v_{word}(X, vl); vint{}_t x; }}\n",
            &word[1..]
        );
        assert_eq!(resized(&source, 1), None, "{source}");
        assert_eq!(resized(&source, -1), None, "{source}");
    }
}

//! Groups of registers get another size where nothing in the kernel hangs on the one they have.

use autocomp_rvv_rewriter::resized;

#[test]
fn groups_of_other_sizes_leave_single_elements_alone() {
    let source = "void solution(int8_t X[5][100], int32_t S[5]) {
  for (int i = 0; i < 5; i++) {
    vint32m1_t sum = __riscv_vmv_s_x_i32m1(0, 1), first = __riscv_vmv_v_x_i32m1(7, 1);
    for (size_t j = 0, vl; j < 100; j += vl) {
      vl = __riscv_vsetvl_e8mf2(100 - j);
      vint8mf2x2_t both = __riscv_vlseg2e8_v_i8mf2x2(&X[i][j], vl);
      vint16m1_t x = __riscv_vwcvt_x_x_v_i16m1(__riscv_vget_v_i8mf2x2_i8mf2(both, 1), vl);
      vbool16_t above = __riscv_vmsgt_vx_i16m1_b16(x, 3, vl);
      sum = __riscv_vwredsum_vs_i16m1_i32m1_m(above, x, sum, vl);
    }
    S[i] = __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m1_i32m1(sum, first, 1));
  }
}
";
    let larger = resized(source, 1).expect("larger groups");
    for kept in [
        "vint32m1_t sum = __riscv_vmv_s_x_i32m1(0, 1), first = __riscv_vmv_v_x_i32m1(7, 1);",
        "__riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m1_i32m1(sum, first, 1))",
    ] {
        assert!(larger.contains(kept), "{larger}");
    }
    for made in [
        "vl = __riscv_vsetvl_e8m1(100 - j);",
        "vint8m1x2_t both = __riscv_vlseg2e8_v_i8m1x2(&X[i][j], vl);",
        "vint16m2_t x = __riscv_vwcvt_x_x_v_i16m2(__riscv_vget_v_i8m1x2_i8m1(both, 1), vl);",
        "vbool8_t above = __riscv_vmsgt_vx_i16m2_b8(x, 3, vl);",
        "sum = __riscv_vwredsum_vs_i16m2_i32m1_m(above, x, sum, vl);",
    ] {
        assert!(larger.contains(made), "{made}\n{larger}");
    }
    assert_eq!(resized(&larger, -1).as_deref(), Some(source));
    // However long what the first value is in may be.
    let first = "first = __riscv_vmv_v_x_i32m1(7, 1)";
    let long = "first = __riscv_vmv_v_x_i32m1(7, __riscv_vsetvlmax_e32m1())";
    let larger_long = resized(&source.replace(first, long), 1);
    let kept = "first = __riscv_vmv_v_x_i32m1(7, ";
    assert!(
        larger_long.as_ref().is_some_and(|it| it.contains(kept)),
        "{larger_long:?}"
    );
    // Numbers of elements may be more than smaller groups hold.
    for fixed in ["8", "n"] {
        let larger = larger.replace("x, sum, vl)", &format!("x, sum, {fixed})"));
        let larger = larger.replace("  for (int i", "  size_t n = 8;\n  for (int i");
        assert_eq!(resized(&larger, -1), None, "{larger}");
        assert!(resized(&larger, 1).is_some(), "{larger}");
    }
    for asked in ["64", "n", "4 * n"] {
        let larger = larger.replace("vsetvl_e8m1(100 - j)", &format!("vsetvl_e8m1({asked})"));
        let larger = larger.replace("  for (int i", "  const size_t n = 16;\n  for (int i");
        assert_eq!(resized(&larger, -1), None, "{larger}");
        assert!(resized(&larger, 1).is_some(), "{larger}");
    }
    // There are no groups of 16 registers, and none of an eighth for 16 bits.
    assert_eq!(resized(source, 4), None);
    assert_eq!(resized(source, -3), None);
    // A variable that is a group elsewhere, parts of groups, macros.
    let cut = source.replace("x, sum, vl)", "sum, sum, vl)");
    let used_as_group = source.replace("S[i] =", "x = __riscv_vncvt_x_x_w_i16m1(sum, vl); S[i] =");
    let parts = source.replace(
        "__riscv_vwcvt_x_x_v_i16m1(",
        "__riscv_vlmul_ext_v_i16mf2_i16m1(",
    );
    for other in [
        cut,
        used_as_group,
        parts,
        format!("#define F __riscv_vle8_v_i8m1\n{source}"),
    ] {
        assert_eq!(resized(&other, 1), None, "{other}");
    }
}

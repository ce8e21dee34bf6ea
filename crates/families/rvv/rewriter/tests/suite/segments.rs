//! Segments and strided accesses take each other's place where they access the same elements.

use autocomp_rvv_rewriter::{segmented, strided};

const POOL: &str = "void solution(float X[6][64], float Y[3][32]) {
  for (int i = 0; i < 3; i++) {
    for (size_t j = 0; j < 32;) {
      size_t vl = __riscv_vsetvl_e32m4(32 - j);
      vfloat32m4_t top = __riscv_vlse32_v_f32m4(&X[2 * i][2 * j + 1], 8, vl);
      top = __riscv_vfmax_vv_f32m4(top, __riscv_vlse32_v_f32m4(&X[2 * i][2 * j], 8, vl), vl);
      __riscv_vse32_v_f32m4(&Y[i][j], top, vl);
      j += vl;
    }
  }
}
";

const COLORS: &str = "void solution(uint8_t X[300], uint8_t Y[300]) {
  uint8_t *x = X, *y = Y;
  for (size_t n = 100, vl; n > 0; n -= vl, x += 3 * vl, y += 3 * vl) {
    vl = __riscv_vsetvl_e8m2(n);
    vuint8m2x3_t all = __riscv_vlseg3e8_v_u8m2x3(x, vl);
    vuint8m2_t red = __riscv_vget_v_u8m2x3_u8m2(all, 0), blue = __riscv_vget_v_u8m2x3_u8m2(all, 2);
    __riscv_vsse8_v_u8m2(y + 1, 3 * sizeof(uint8_t), __riscv_vget_v_u8m2x3_u8m2(all, 1), vl);
    __riscv_vsse8_v_u8m2(y, 3 * sizeof(uint8_t), blue, vl);
    __riscv_vsse8_v_u8m2(y + 2, 3 * sizeof(uint8_t), red, vl);
  }
}
";

#[test]
fn fields_that_are_loaded_with_a_stride_become_segments() {
    let made = segmented(POOL).expect("segments");
    let name = made
        .split("vfloat32m4x2_t ")
        .nth(1)
        .and_then(|it| it.split(' ').next());
    let name = name.expect("a tuple");
    for line in [
        format!(
            "vfloat32m4x2_t {name} = __riscv_vlseg2e32_v_f32m4x2(&X[2 * i][2 * j], vl); vfloat32m4_t top = __riscv_vget_v_f32m4x2_f32m4({name}, 1);"
        ),
        format!("top = __riscv_vfmax_vv_f32m4(top, __riscv_vget_v_f32m4x2_f32m4({name}, 0), vl);"),
    ] {
        assert!(made.contains(&line), "{line}\n{made}");
    }
    assert_eq!(segmented(&made), None);
    // As it was, but for the names of fields.
    let back = strided(&made).expect("strided loads");
    assert!(
        back.contains("__riscv_vlse32_v_f32m4(&X[2 * i][2 * j], 8, vl)"),
        "{back}"
    );
    assert!(
        back.contains("__riscv_vlse32_v_f32m4(&X[2 * i][2 * j + 1], 8, vl)"),
        "{back}"
    );
    assert!(segmented(&back).is_some(), "{back}");
}

#[test]
fn stores_of_all_fields_become_one() {
    let made = segmented(COLORS).expect("segments");
    let store = "__riscv_vsseg3e8_v_u8m2x3(y, __riscv_vcreate_v_u8m2x3(blue, __riscv_vget_v_u8m2x3_u8m2(all, 1), red), vl);";
    assert!(made.contains(store), "{made}");
    assert!(!made.contains("vsse8"), "{made}");
    let made = strided(COLORS).expect("strided loads");
    let loads = "vuint8m2_t all_0 = __riscv_vlse8_v_u8m2(x, 3, vl), all_1 = __riscv_vlse8_v_u8m2(x + 1, 3, vl), all_2 = __riscv_vlse8_v_u8m2(x + 2, 3, vl);";
    assert!(made.contains(loads), "{made}");
    assert!(
        made.contains("vuint8m2_t red = all_0, blue = all_2;"),
        "{made}"
    );
    assert!(!made.contains("vget"), "{made}");
}

#[test]
fn accesses_that_may_differ_are_left_alone() {
    for (what, by) in [
        // Only one of the fields, one twice, fields of other strides, groups or lengths.
        ("2 * j]", "2 * j + 2]"),
        ("2 * j]", "2 * j + 1]"),
        ("2 * j], 8", "2 * j], 12"),
        ("2 * j], 8, vl", "2 * j], 8, vl / 2"),
        // A half of an element apart.
        ("8, vl", "6, vl"),
        // What is stored between is loaded behind it.
        (
            "      top =",
            "      __riscv_vse32_v_f32m4(&X[0][0], top, vl);\n      top =",
        ),
        ("      top =", "      other(X);\n      top ="),
        ("      top =", "      X[0][1] = 3;\n      top ="),
        ("      top =", "      j += 2;\n      top ="),
        // What is not loaded in any case may lie behind the end.
        (
            "top, __riscv_vlse32_v_f32m4(&X[2 * i][2 * j], 8, vl)",
            "top, i ? __riscv_vlse32_v_f32m4(&X[2 * i][2 * j], 8, vl) : top",
        ),
        ("      top = ", "      if (i) top = "),
        ("&X[2 * i][2 * j]", "next(X)"),
        // More registers than there are in a group.
        ("m4", "m8"),
        ("void", "#define LOAD __riscv_vlse32_v_f32m4\nvoid"),
    ] {
        let other = POOL.replace(what, by);
        assert_ne!(other, POOL);
        assert_eq!(segmented(&other), None, "{other}");
    }
    for (what, by) in [
        // What is stored may be what the next one loads.
        ("blue, vl", "__riscv_vle8_v_u8m2(X, vl), vl"),
        ("blue, vl", "__riscv_vmv_v_x_u8m2(Y[1], vl), vl"),
        (
            "    __riscv_vsse8_v_u8m2(y,",
            "    vl = 3;\n    __riscv_vsse8_v_u8m2(y,",
        ),
        ("y + 2", "y + 3"),
    ] {
        let other = COLORS.replace(what, by);
        assert_ne!(other, COLORS);
        assert_eq!(segmented(&other), None, "{other}");
    }
    for (what, by) in [
        ("blue, vl", "blue, vl); keep(all"),
        ("(x, vl)", "(x++, vl)"),
        ("(all, 2)", "(all, n)"),
        ("vuint8m2_t red", "vuint8m2_t all_1, red"),
    ] {
        let other = COLORS.replace(what, by);
        assert_ne!(other, COLORS);
        assert_eq!(strided(&other), None, "{other}");
    }
    assert_eq!(strided(POOL), None);
}

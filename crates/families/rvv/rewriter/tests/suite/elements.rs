//! Kernels with intrinsics are read as what they do to single elements.

use autocomp_rvv_rewriter::plain;

/// Returns a kernel with these statements in its only loop.
fn kernel(head: &str, body: &str) -> String {
    format!("void solution(int8_t X[100], int8_t Y[100]) {{\n  {head} {{\n    {body}\n  }}\n}}\n")
}

#[test]
fn a_loop_over_what_is_left_is_one_over_elements() {
    let source = kernel(
        "for (size_t i = 0; i < 100;)",
        "size_t vl = __riscv_vsetvl_e8m1(100 - i); vint8m1_t x = __riscv_vle8_v_i8m1(&X[i], vl); x = __riscv_vadd_vx_i8m1(x, 3 + 4, vl); __riscv_vse8_v_i8m1(&Y[i], __riscv_vmul_vv_i8m1(x, __riscv_vadd_vv_i8m1(x, x, vl), vl), vl); i += vl;",
    );
    assert_eq!(
        plain(&source).expect("a plain kernel"),
        kernel(
            "for (size_t i = 0; i < 100; i += 1)",
            " int8_t x = X[i]; x = (x + (int8_t)(3 + 4)); Y[i] = (int8_t)((x * (int8_t)((x + x)))); ",
        )
    );
}

#[test]
fn what_is_not_read_is_named_with_its_line_and_what_to_write() {
    let asked = "size_t vl = __riscv_vsetvl_e8m1(100 - i);";
    let load = "vint8m1_t x = __riscv_vle8_v_i8m1(&X[i], vl);";
    let over = "for (size_t i = 0; i < 100; )";
    let cases = [
        // Another number than what is left.
        (
            over,
            "size_t vl = __riscv_vsetvl_e8m1(16); i += vl;".into(),
            "write `vl = vsetvl",
        ),
        (
            over,
            format!("{asked} {} i += vl;", load.replace("vl)", "16)")),
            "in a loop that goes on by `vl`",
        ),
        // Loops that go on in another way.
        (
            over,
            format!("{asked} {load} i += 2 * vl;"),
            "goes on by more than `vl`",
        ),
        (
            "for (size_t i = 0; X[i]; )",
            format!("{asked} {load} i += vl;"),
            "write `i < n`",
        ),
        (
            over,
            format!("{asked} if (X[i] == 0) break; i += vl;"),
            "leaves an iteration",
        ),
        // What elements have to do with one another.
        (
            over,
            format!("{asked} {load} x = __riscv_vslidedown_vx_i8m1(x, 1, vl); i += vl;"),
            "an intrinsic that",
        ),
        (
            over,
            format!("{asked} {load} __riscv_vse8(&Y[i], x, vl); i += vl;"),
            "full name",
        ),
        (
            over,
            format!(
                "{asked} {load} long first = __riscv_vfirst_m_b8(__riscv_vmseq_vx_i8m1_b8(x, 7, vl), vl); Y[0] = first; i += vl;"
            ),
            "elements meet others",
        ),
        (
            over,
            format!(
                "{asked} {load} vbool8_t m = __riscv_vmsne_vx_i8m1_b8(x, 0, vl); __riscv_vsm_v_b8(Y, m, vl); i += vl;"
            ),
            "elements meet others",
        ),
        (
            over,
            format!(
                "{asked} {load} int8_t *to = Y; __riscv_vse8_v_i8m1(to, x, vl); to += 4; i += vl;"
            ),
            "how many elements a mask takes is not followed, write to `y[i]` what the loop's variable says: to += 4",
        ),
        // Calls with less than they need.
        (
            over,
            format!("{asked} vint8m1_t x = __riscv_vadd_vv_i8m1_m(vl); i += vl;"),
            "is not understood",
        ),
        (
            over,
            format!("{asked} __riscv_vse8_v_i8m1_m(vl); i += vl;"),
            "is not understood",
        ),
        // A shift by no places in other digits than one.
        (
            over,
            format!(
                "{asked} {load} x = __riscv_vssra_vx_i8m1(x, 00, __RISCV_VXRM_RNU, vl); i += vl;"
            ),
            "an intrinsic that",
        ),
    ];
    for (head, body, why) in cases {
        let source = kernel(head, &body);
        let refusal = plain(&source).expect_err(&source);
        assert!(
            refusal.line.is_some_and(|it| it == 2 || it == 3),
            "{refusal}"
        );
        assert!(refusal.why.contains(why), "{source}{refusal}");
    }
}

/// Returns what a kernel over elements stores that computes this of bytes and words.
fn stored(declared: &str, value: &str) -> String {
    let source = format!(
        "void solution(int32_t X[100], uint16_t A[100], uint8_t B[100], float F[100], int32_t Y[100]) {{\n  {declared}\n  for (size_t i = 0, vl; i < 100; i += vl) {{\n    vl = __riscv_vsetvl_e32m4(100 - i);\n    vint32m4_t x = __riscv_vle32_v_i32m4(&X[i], vl); vuint16m2_t a = __riscv_vle16_v_u16m2(&A[i], vl); vuint8m1_t b = __riscv_vle8_v_u8m1(&B[i], vl); vfloat32m4_t f = __riscv_vle32_v_f32m4(&F[i], vl);\n    __riscv_vse32_v_i32m4(&Y[i], {value}, vl);\n  }}\n}}\n"
    );
    let made = match plain(&source) {
        Ok(made) => made,
        Err(refusal) => return refusal.why.split(": ").next().unwrap_or("").to_owned(),
    };
    let line = made.lines().nth(5).expect("a line").trim();
    line.replace("Y[i] = ", "")
}

#[test]
fn results_within_others_and_numbers_have_the_types_of_their_elements() {
    let wide = "__riscv_vsext_vf2_i64m8(x, vl)";
    let cases = [
        // 64 bits.
        (
            "",
            format!("__riscv_vnsra_wx_i32m4(__riscv_vadd_vv_i64m8({wide}, {wide}, vl), 1, vl)"),
            "(int32_t)((((int64_t)(x) + (int64_t)(x)) >> 1));",
        ),
        // Differences and products without signs.
        (
            "",
            "__riscv_vsrl_vx_u32m4(__riscv_vsub_vv_u32m4(__riscv_vzext_vf4_u32m4(b, vl), __riscv_vzext_vf4_u32m4(b, vl), vl), 4, vl)".into(),
            "(((uint32_t)(b) - (uint32_t)(b)) >> 4);",
        ),
        (
            "",
            "__riscv_vfcvt_f_xu_v_f32m4(__riscv_vwmulu_vv_u32m4(a, a, vl), vl)".into(),
            "(float)(((uint32_t)a * a));",
        ),
        // Numbers of other types.
        (
            "",
            "__riscv_vsra_vx_i32m4(__riscv_vmul_vx_i32m4(x, 0x9E3779B1, vl), 15, vl)".into(),
            "((x * (int32_t)(0x9E3779B1)) >> 15);",
        ),
        (
            "size_t bound = 100;",
            "__riscv_vsub_vx_i32m4(x, bound, vl)".into(),
            "(x - (int32_t)(bound));",
        ),
        (
            "int32_t bound = 100;",
            "__riscv_vsub_vx_i32m4(x, bound, vl)".into(),
            "(x - bound);",
        ),
        (
            "uint8_t bound = 200;",
            "__riscv_vand_vx_u8m1(b, bound + 100, vl)".into(),
            "(b & (uint8_t)(bound + 100));",
        ),
        (
            "",
            "__riscv_vand_vx_u8m1(b, (uint8_t)~0x80, vl)".into(),
            "(b & ((uint8_t)~0x80));",
        ),
        (
            "",
            "__riscv_vmfeq_vf_f32m4_b8(f, 0.1, vl)".into(),
            "(f == 0.1f);",
        ),
        // Only so many bits of a shift count.
        (
            "int by = 3;",
            "__riscv_vsll_vx_i32m4(x, by, vl)".into(),
            "(x << (by & 31));",
        ),
        // Widening operations of floating point, and twice as many bits.
        (
            "",
            "__riscv_vfncvt_f_f_w_f32m4(__riscv_vfwmul_vv_f64m8(f, f, vl), vl)".into(),
            "(float)(((double)f * f));",
        ),
        (
            "",
            "__riscv_vfncvt_x_f_w_i32m4(__riscv_vfabs_v_f64m8(__riscv_vfwcvt_f_f_v_f64m8(f, vl), vl), vl)".into(),
            "is an intrinsic that is not read as what it does to single elements",
        ),
        (
            "",
            "__riscv_vfadd_vv_f32m4_rm(f, f, __RISCV_FRM_RTZ, vl)".into(),
            "is an intrinsic that is not read as what it does to single elements",
        ),
        (
            "",
            "__riscv_vmv_v_x_i32m4(__riscv_vfirst_m_b8(__riscv_vmsgt_vx_i32m4_b8(x, 0, vl), vl), vl)".into(),
            "is an intrinsic that is not read as what it does to single elements",
        ),
        // Saturation from 64 bits, and from 32 without a sign.
        (
            "",
            format!("__riscv_vnclip_wx_i32m4({wide}, 8, __RISCV_VXRM_RDN, vl)"),
            "int64_t element1 = (int64_t)(x) >> 8; (int32_t)((element1 > 2147483647 ? 2147483647 : element1 < -2147483648 ? -2147483648 : element1));",
        ),
        (
            "",
            "__riscv_vnclipu_wx_u16m2(__riscv_vwmulu_vv_u32m4(a, a, vl), 0, __RISCV_VXRM_RDN, vl)".into(),
            "uint32_t element1 = ((uint32_t)a * a); (element1 > 65535 ? 65535 : element1);",
        ),
        (
            "",
            "__riscv_vnclip_wx_i64m1(x, 3, __RISCV_VXRM_RDN, vl)".into(),
            "is an intrinsic that is not read as what it does to single elements",
        ),
        // Halves, which are loaded as their bits or computed in single precision.
        (
            "",
            "__riscv_vfcvt_x_f_v_i32m4(__riscv_vfwcvt_f_f_v_f32m4(__riscv_vreinterpret_v_u16m2_f16m2(__riscv_vle16_v_u16m2(A + i, vl)), vl), vl)".into(),
            "(int32_t)(__builtin_rintf((float)(*(const _Float16 *)(A + i))));",
        ),
        (
            "",
            "__riscv_vfcvt_x_f_v_i32m4(__riscv_vfwcvt_f_f_v_f32m4(__riscv_vfmax_vf_f16m2(__riscv_vfncvt_f_f_w_f16m2(f, vl), 0.5f, vl), vl), vl)".into(),
            "(int32_t)(__builtin_rintf((float)((_Float16)(fmaxf((_Float16)((_Float16)(f)), (_Float16)(0.5f))))));",
        ),
        (
            "",
            "__riscv_vfcvt_x_f_v_i32m4(__riscv_vfwcvt_f_f_v_f32m4(__riscv_vreinterpret_v_u16m2_f16m2(a), vl), vl)".into(),
            "takes bits for halves that are not loaded there",
        ),
        // Offsets in bytes that come from elsewhere.
        (
            "",
            "__riscv_vluxei16_v_i32m4(X, __riscv_vand_vx_u16m2(a, 124, vl), vl)".into(),
            "X[((a & 124) >> 2)];",
        ),
        // Operators in an index, beside what is behind it.
        (
            "",
            "__riscv_vloxei32_v_i32m4(&X[i & 3], __riscv_vsll_vx_u32m4(__riscv_vzext_vf4_u32m4(b, vl), 2, vl), vl)".into(),
            "X[(i & 3) + (uint32_t)(b)];",
        ),
    ];
    for (declared, value, expected) in cases {
        assert_eq!(stored(declared, &value), expected, "{value}");
    }
}

#[test]
fn what_a_load_has_got_is_a_length_unless_it_gets_other_numbers() {
    let load = "vint8m1_t x = __riscv_vle8ff_v_i8m1(&X[i], &got, vl); __riscv_vse8_v_i8m1(&Y[i], x, got); i += got;";
    let of = |declared: &str| {
        let asked = "size_t vl = __riscv_vsetvl_e8m1(100 - i);";
        kernel(
            "for (size_t i = 0; i < 100;)",
            &format!("{asked} {declared} {load}"),
        )
    };
    for declared in ["size_t got;", "size_t got = 0;"] {
        let made = plain(&of(declared)).expect("a plain kernel");
        assert!(made.contains("i < 100; i += 1"), "{made}");
        assert!(made.contains("int32_t x = X[i]; Y[i] = x;"), "{made}");
    }
    let refusal = plain(&of("size_t got; got = 4;")).expect_err("another number");
    assert_eq!(refusal.line, Some(3), "{refusal}");
}

#[test]
fn a_length_may_be_zero_before_it_is_given() {
    let of = |first: &str| {
        kernel(
            &format!("{first} for (int i = 0; i < 100; i += vl)"),
            "vl = __riscv_vsetvl_e8m1(100 - i); __riscv_vse8_v_i8m1(&Y[i], __riscv_vle8_v_i8m1(&X[i], vl), vl);",
        )
    };
    let made = plain(&of("size_t vl = 0;")).expect("a plain kernel");
    assert!(
        made.contains("for (int i = 0; i < 100; i += 1) {"),
        "{made}"
    );
    for read in ["size_t vl = 0; Y[0] = vl;", "size_t vl = 0; vl += 3;"] {
        let refusal = plain(&of(read)).expect_err(read);
        assert!(
            refusal.why.contains("holds other numbers, too"),
            "{refusal}"
        );
    }
}

/// Variables of a loop's head move along beside its counter; each loop has its own.
#[test]
fn loops_with_two_counters_are_read() {
    let body = "vl = __riscv_vsetvl_e8m1(n); __riscv_vse8_v_i8m1(&Y[j], __riscv_vle8_v_i8m1(&X[j], vl), vl);";
    let twice = |first: &str, head: &str| {
        format!(
            "void solution(int8_t X[100], int8_t Y[100]) {{\n  {first}\n  for ({head}) {{ {body} }}\n  for ({head}) {{ {body} }}\n}}\n"
        )
    };
    let cases = [
        (
            "size_t vl;",
            "size_t n = 100, j = 0; n > 0; n -= vl, j += vl",
            "for (size_t element2 = 0; element2 < (100); element2++) {  Y[(element2)] = X[(element2)]; }",
        ),
        (
            "",
            "size_t n = 100, j = 0, vl; n; j += vl, n -= vl",
            "for (size_t element2 = 0; element2 < (100); element2++) {  Y[(element2)] = X[(element2)]; }",
        ),
        (
            "size_t vl, m = 3;",
            "int j = m, k = 5, n = 97; n != 0; n -= vl, j += vl",
            "for (int element2 = 0, k = 5; element2 < (97); element2++) {  Y[((m) + element2)] = X[((m) + element2)]; }",
        ),
        (
            "size_t vl, n, j;",
            "n = 100, j = 0; n > 0; n -= vl, j += vl",
            "for (size_t element2 = 0; element2 < (100); element2++) {  Y[(element2)] = X[(element2)]; }",
        ),
    ];
    for (first, head, expected) in cases {
        let source = twice(first, head);
        let made = plain(&source).unwrap_or_else(|it| panic!("{source}{it}"));
        let second = made.lines().nth(3).expect("a line").trim();
        assert_eq!(second, expected, "{made}");
    }
    // What would be lost, and what is not what it was at first.
    for (head, why) in [
        (
            "size_t n = 100, j = 0, k = 1; n > 0; n -= vl, j += vl, k *= 2",
            "in its head",
        ),
        (
            "size_t n = 100, j = 0, k = 1; n > 0; n -= vl, j += vl, k++",
            "in its head",
        ),
        (
            "n = 100, j = 0, m = 2; n > 0; n -= vl, j += vl",
            "sets another variable",
        ),
        (
            "size_t n = 100, j = m; n > 0; n -= vl, j += vl, m += vl",
            "changes in the loop",
        ),
    ] {
        let source = twice("size_t vl, n, m = 0, j;", head);
        let source = source.replace(&format!("\n  for ({head}) {{ {body} }}\n}}"), "\n}");
        let refusal = plain(&source).expect_err(&source);
        assert!(refusal.why.contains(why), "{head}: {refusal}");
    }
}

#[test]
fn fields_of_tuples_are_written_at_once() {
    let source = kernel(
        "for (size_t i = 0, vl; i < 50; i += vl)",
        "vl = __riscv_vsetvl_e8m1(50 - i); vint8m1x2_t x = __riscv_vlseg2e8_v_i8m1x2(&X[i << 1], vl); x = __riscv_vcreate_v_i8m1x2(__riscv_vget_v_i8m1x2_i8m1(x, 1), __riscv_vget_v_i8m1x2_i8m1(x, 0)); __riscv_vsseg2e8_v_i8m1x2(&Y[i << 1], x, vl); __riscv_vsseg2e8_v_i8m1x2(&Y[i << 1], __riscv_vlseg2e8_v_i8m1x2(&Y[98 - 2 * i], vl), vl);",
    );
    let made = plain(&source).expect("a plain kernel");
    for wanted in [
        "int8_t x_0 = X[i << 1]; int8_t x_1 = X[(i << 1) + 1];",
        "int8_t field1 = x_1; int8_t field2 = x_0; x_0 = field1; x_1 = field2;",
        "Y[i << 1] = x_0; Y[(i << 1) + 1] = x_1;",
        "int8_t field3 = Y[98 - 2 * i]; int8_t field4 = Y[(98 - 2 * i) + 1]; Y[i << 1] = field3; Y[(i << 1) + 1] = field4;",
    ] {
        assert!(made.contains(wanted), "{wanted}\n{made}");
    }
}

#[test]
fn what_is_done_where_nothing_is_left_is_done_behind_a_loop() {
    let source = "void solution(int8_t X[100], int8_t Y[100]) {\n  size_t i = 0;\n  for (size_t vl; i < 99; i += vl) { vl = __riscv_vsetvl_e8m1(99 - i); __riscv_vse8_v_i8m1(&Y[i], __riscv_vle8_v_i8m1(&X[i], vl), vl); }\n  if (i < 99) {\n    Y[i] = 0;\n  } else {\n    Y[99] = 7;\n  }\n}\n";
    let made = plain(source).expect("a plain kernel");
    let behind = made.split_once("Y[i] = X[i];").expect("a loop").1;
    assert!(!behind.contains("Y[i] = 0"), "{made}");
    assert!(behind.contains("Y[99] = 7;"), "{made}");
    assert_eq!(made.lines().count(), source.lines().count());
}

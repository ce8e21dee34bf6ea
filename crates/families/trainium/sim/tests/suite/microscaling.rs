//! Microscaling types, against a second computation in double precision.

use autocomp_trainium_sim::{Array, Dtype, Evaluation, Failure, Input, Options, evaluate};

const START: &str =
    "import nki\nimport nki.language as nl\nimport nki.isa as nisa\ndef solution(a, b, c, d):\n";

/// Numbers over many powers of two, some of them zero, of `seed`.
fn numbers(count: usize, seed: u64, dtype: Dtype) -> Vec<f32> {
    let mut state = seed;
    let mut next = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    (0..count)
        .map(|_| {
            let (kind, size, digits) = (next() % 16, next() % 24, next());
            let digits = f64::from(digits) / f64::from(1u32 << 30) - 1.0;
            let value = if kind == 0 {
                0.0
            } else {
                digits * f64::from(size as i32 - 12).exp2()
            };
            dtype.round(value as f32)
        })
        .collect()
}

fn array(dtype: Dtype, shape: [usize; 2], data: Vec<f32>) -> Input {
    let shape = shape.to_vec();
    Input::Array(Array { dtype, shape, data })
}

fn run(body: &str, inputs: Vec<Input>, generation: u8) -> Result<Evaluation, Box<Failure>> {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let mut inputs: Vec<(String, Input)> = ["a", "b", "c", "d"]
        .map(str::to_owned)
        .into_iter()
        .zip(inputs)
        .collect();
    for name in ["a", "b", "c", "d"].iter().skip(inputs.len()) {
        inputs.push(((*name).to_owned(), Input::None));
    }
    let options = Options {
        generation,
        ..Options::default()
    };
    evaluate(&format!("{START}{body}"), "solution", &inputs, &options)
}

/// The value of eight bits with so many of exponent.
fn eight_bits(bits: u8, exponent_bits: u32) -> f64 {
    let mantissa_bits = 7 - exponent_bits;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = i32::from((bits & 0x7F) >> mantissa_bits);
    let mantissa = f64::from(bits & ((1 << mantissa_bits) - 1)) / f64::from(1 << mantissa_bits);
    let magnitude = match exponent {
        0 => mantissa * f64::from(1 - bias).exp2(),
        _ => (1.0 + mantissa) * f64::from(exponent - bias).exp2(),
    };
    if bits < 128 { magnitude } else { -magnitude }
}

/// The eight bits whose value is next to `value`, of two the even ones: by trying all.
fn nearest(value: f64, exponent_bits: u32) -> u8 {
    let last = if exponent_bits == 4 { 0x7E } else { 0x7B };
    let all = (0..=last).chain(128..=128 + last);
    let sign = if value.is_sign_negative() { 128 } else { 0 };
    all.filter(|it| it & 128 == sign)
        .min_by(|one, other| {
            let apart = |it: &u8| (eight_bits(*it, exponent_bits) - value).abs();
            apart(one)
                .total_cmp(&apart(other))
                .then((one & 1).cmp(&(other & 1)))
        })
        .unwrap()
}

/// The exponent of the scale of `group`, as memory holds it.
fn scale(group: impl Iterator<Item = f32>, most: i32) -> u8 {
    let largest = group.map(|it| f64::from(it.abs())).fold(0.0, f64::max);
    let power = (-150..=128)
        .rev()
        .find(|it| f64::from(*it).exp2() <= largest);
    match power {
        Some(power) if 0.0 < largest => (power - (most - 1)).max(-127) as i64 as i32 + 127,
        _ => 0,
    }
    .try_into()
    .unwrap()
}

/// Bytes and scales of `rows` of `width` numbers each: a second `quantize_mx`.
fn quantized(data: &[f32], width: usize, exponent_bits: u32) -> (Vec<u8>, Vec<u8>) {
    let most = if exponent_bits == 4 { 8 } else { 15 };
    let rows = data.len() / width;
    let mut scales = Vec::new();
    for group in 0..rows / 8 {
        for column in 0..width / 4 {
            let places = (0..8).flat_map(|row| (0..4).map(move |at| (row, at)));
            scales.push(scale(
                places.map(|(row, at)| data[(8 * group + row) * width + 4 * column + at]),
                most,
            ));
        }
    }
    let byte = |(place, value): (usize, &f32)| {
        let (row, column) = (place / width, place % width / 4);
        let power = i32::from(scales[row / 8 * (width / 4) + column]) - 127;
        nearest(f64::from(*value) * f64::from(-power).exp2(), exponent_bits)
    };
    (data.iter().enumerate().map(byte).collect(), scales)
}

fn bytes(found: &Evaluation, output: usize) -> Vec<u8> {
    found.outputs[output]
        .data
        .iter()
        .map(|it| *it as u8)
        .collect()
}

#[test]
fn groups_are_quantized_as_documented() {
    for (name, exponent_bits) in [("float8_e4m3fn", 4), ("float8_e5m2", 5)] {
        for (source, seed) in [(Dtype::Bfloat16, 1), (Dtype::Float16, 2)] {
            for scale in ["uint8", "float8_e8m0fnu"] {
                let data = numbers(64 * 32, seed, source);
                let body = format!(
                    "x = nl.ndarray((64, 32), dtype=a.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=x, src=a)\nq = nl.ndarray((64, 8), dtype=nl.{name}_x4, buffer=nl.sbuf)\ns = nl.ndarray((64, 8), dtype=nl.{scale}, buffer=nl.sbuf)\nnisa.quantize_mx(dst=q, src=x, dst_scale=s)\no = nl.ndarray((64, 32), dtype=nl.uint8, buffer=nl.shared_hbm)\nnisa.dma_copy(dst=o, src=q.view(nl.uint8))\nt = nl.ndarray((8, 8), dtype=nl.uint8, buffer=nl.shared_hbm)\nfor i in range(2):\n  nisa.dma_copy(dst=t[4*i:4*i+4, :], src=s[32*i:32*i+4, :].view(nl.uint8))\nreturn o, t"
                );
                let found = run(&body, vec![array(source, [64, 32], data.clone())], 4).unwrap();
                let (wanted, scales) = quantized(&data, 32, exponent_bits);
                assert_eq!(bytes(&found, 1), scales, "{name} {source:?} {scale}");
                assert_eq!(bytes(&found, 0), wanted, "{name} {source:?} {scale}");
            }
        }
    }
}

/// The product of dequantized operands of `k` partitions, four elements each.
fn product(
    stationary: impl Fn(usize, usize, usize) -> f64,
    moving: impl Fn(usize, usize, usize) -> f64,
    (k, m, n): (usize, usize, usize),
) -> Vec<f64> {
    let term = |row: usize, column: usize| -> f64 {
        let places = (0..k).flat_map(|p| (0..4).map(move |at| (p, at)));
        places
            .map(|(p, at)| stationary(p, row, at) * moving(p, column, at))
            .sum()
    };
    (0..m * n).map(|place| term(place / n, place % n)).collect()
}

fn assert_near(found: &[f32], wanted: &[f64], magnitude: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for ((found, wanted), magnitude) in found.iter().zip(wanted).zip(magnitude) {
        let apart = (f64::from(*found) - wanted).abs();
        assert!(apart <= 1e-5 * magnitude + 1e-30, "{found} {wanted}");
    }
}

const QUANTIZED: &str = "x = nl.ndarray((64, 32), dtype=a.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=x, src=a)\ny = nl.ndarray((64, 48), dtype=a.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=y, src=b)\nq = nl.ndarray((64, 8), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)\nr = nl.ndarray((64, 12), dtype=nl.float8_e5m2_x4, buffer=nl.sbuf)\n";
const PRODUCT: &str = "p = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.psum)\nfor i in range(2):\n  nisa.nc_matmul_mx(dst=p, stationary=q, moving=r, stationary_scale=s, moving_scale=t)\nz = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=z, src=p)\no = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.shared_hbm)\nnisa.dma_copy(dst=o, src=z)\nreturn o";

#[test]
fn products_are_of_the_scaled_elements() {
    let own = "s = nl.ndarray((64, 8), dtype=nl.float8_e8m0fnu, buffer=nl.sbuf)\nt = nl.ndarray((64, 12), dtype=nl.uint8, buffer=nl.sbuf)\n";
    let packed = "st = nl.ndarray((64, 12), dtype=nl.uint8, buffer=nl.sbuf)\ns = st[0:, 0:8]\nt = st[4:, :]\n";
    let quantize = "nisa.quantize_mx(dst=q, src=x, dst_scale=s)\nnisa.quantize_mx(dst=r, src=y, dst_scale=t)\n";
    let (x, y) = (
        numbers(64 * 32, 3, Dtype::Bfloat16),
        numbers(64 * 48, 4, Dtype::Bfloat16),
    );
    let (a, b) = (quantized(&x, 32, 4), quantized(&y, 48, 5));
    let value = |(bytes, scales): &(Vec<u8>, Vec<u8>),
                 bits,
                 width: usize,
                 (p, column, at): (usize, usize, usize)| {
        let power = i32::from(scales[p / 8 * (width / 4) + column]) - 127;
        eight_bits(bytes[p * width + 4 * column + at], bits) * f64::from(power).exp2()
    };
    let of_a = |p, column, at| value(&a, 4, 32, (p, column, at));
    let of_b = |p, column, at| value(&b, 5, 48, (p, column, at));
    // The second product is added to the first.
    let wanted: Vec<f64> = product(of_a, of_b, (64, 8, 12))
        .iter()
        .map(|it| 2.0 * it)
        .collect();
    let magnitude = product(
        |p, c, at| 2.0 * of_a(p, c, at).abs(),
        |p, c, at| of_b(p, c, at).abs(),
        (64, 8, 12),
    );
    for scales in [own, packed] {
        let inputs = vec![
            array(Dtype::Bfloat16, [64, 32], x.clone()),
            array(Dtype::Bfloat16, [64, 48], y.clone()),
        ];
        let found = run(
            &format!("{QUANTIZED}{scales}{quantize}{PRODUCT}"),
            inputs,
            4,
        )
        .unwrap();
        assert_near(&found.outputs[0].data, &wanted, &magnitude);
    }
}

#[test]
fn four_bits_and_eight_are_multiplied() {
    // All bits, of the eight-bit type without the patterns that are no numbers.
    let random = |count, seed, mask: u32| -> Vec<f32> {
        numbers(count, seed, Dtype::Float32)
            .iter()
            .map(|it| (it.to_bits() >> 7 & mask | it.to_bits() >> 24 & 0x80) as f32)
            .collect()
    };
    let (x, s) = (random(32 * 16, 5, 0xFF), vec![120.0; 4 * 8]);
    let (y, t): (Vec<f32>, Vec<f32>) = (
        random(32 * 48, 6, 0xF7),
        (0..48).map(|it| (115 + it % 20) as f32).collect(),
    );
    let body = "q = nl.ndarray((32, 8), dtype=nl.float4_e2m1fn_x4, buffer=nl.sbuf)\nnisa.dma_copy(dst=q, src=a.view(nl.float4_e2m1fn_x4))\nr = nl.ndarray((32, 12), dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)\nnisa.dma_copy(dst=r.view(nl.uint8), src=c)\ns = nl.ndarray((4, 8), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.dma_copy(dst=s, src=b)\nt = nl.ndarray((4, 12), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=d)\n";
    let found = run(
        &format!("{body}{}", PRODUCT.replace("range(2)", "range(1)")),
        vec![
            array(Dtype::Uint8, [32, 16], x.clone()),
            array(Dtype::Uint8, [4, 8], s),
            array(Dtype::Uint8, [32, 48], y.clone()),
            array(Dtype::Uint8, [4, 12], t.clone()),
        ],
        4,
    )
    .unwrap();
    let four_bits = |p: usize, column: usize, at: usize| {
        let byte = x[p * 16 + 2 * column + at / 2] as u8;
        let bits = byte >> (4 * (at % 2)) & 15;
        let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][usize::from(bits & 7)];
        (if bits < 8 { magnitude } else { -magnitude }) * (-7f64).exp2()
    };
    let eight = |p: usize, column: usize, at: usize| {
        let power = f64::from(t[p / 8 * 12 + column]) - 127.0;
        eight_bits(y[p * 48 + 4 * column + at] as u8, 4) * power.exp2()
    };
    let is_negative = |it: &&f32| **it >= 128.0;
    assert!(
        x.iter().filter(is_negative).count() > 100 && y.iter().filter(is_negative).count() > 100
    );
    let wanted = product(four_bits, eight, (32, 8, 12));
    let magnitude = product(
        |p, c, at| four_bits(p, c, at).abs(),
        |p, c, at| eight(p, c, at).abs(),
        (32, 8, 12),
    );
    assert_near(&found.outputs[0].data, &wanted, &magnitude);
}

#[test]
fn what_is_not_documented_of_them_is_refused() {
    let own = "s = nl.ndarray((64, 8), dtype=nl.uint8, buffer=nl.sbuf)\nt = nl.ndarray((64, 12), dtype=nl.uint8, buffer=nl.sbuf)\n";
    let cases = [
        (
            "nisa.quantize_mx(dst=q, src=x, dst_scale=s[:, 0:4])",
            "annotation-shape-mismatch",
        ),
        (
            "nisa.quantize_mx(dst=q, src=x, dst_scale=t[2:, 0:8])",
            "unsupported-operand",
        ),
        (
            "nisa.quantize_mx(dst=r, src=x, dst_scale=s)",
            "annotation-shape-mismatch",
        ),
        (
            "nisa.quantize_mx(dst=q, src=x, dst_scale=q.view(nl.uint8)[:, 0:8])",
            "operands-overlap",
        ),
        (
            "nisa.quantize_mx(dst=q, src=x[0:24, :], dst_scale=s)",
            "num-partition-mismatch",
        ),
        (
            "nisa.quantize_mx(dst=x, src=x, dst_scale=s)",
            "unsupported-dtype",
        ),
        ("nisa.memset(dst=q, value=1)", "unsupported-dtype"),
        (
            "nisa.memset(dst=q, value=0)\nnisa.tensor_tensor(dst=q, data1=q, data2=q, op=nl.add)",
            "unsupported-dtype",
        ),
        (
            "nisa.memset(dst=q, value=0)\nnisa.tensor_copy(dst=x[:, 0:8], src=q)",
            "unsupported-dtype",
        ),
        (
            "nisa.memset(dst=q, value=0)\nnisa.tensor_reduce(dst=x[:, 0:1], data=q, op=nl.max, axis=1)",
            "unsupported-dtype",
        ),
        (
            "nisa.tensor_copy(dst=q, src=x[:, 0:8])",
            "unsupported-dtype",
        ),
        ("nisa.dma_copy(dst=q, src=x[:, 0:8])", "unsupported-dtype"),
        (
            "p = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(dst=p, stationary=q, moving=r)",
            "unsupported-dtype",
        ),
        (
            "p = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul_mx(dst=p, stationary=x, moving=r, stationary_scale=s, moving_scale=t)",
            "unsupported-dtype",
        ),
    ];
    let inputs = || {
        vec![
            array(
                Dtype::Bfloat16,
                [64, 32],
                numbers(64 * 32, 3, Dtype::Bfloat16),
            ),
            array(
                Dtype::Bfloat16,
                [64, 48],
                numbers(64 * 48, 3, Dtype::Bfloat16),
            ),
        ]
    };
    for (body, code) in cases {
        let failure = run(&format!("{QUANTIZED}{own}{body}"), inputs(), 4).unwrap_err();
        assert_eq!(failure.code, code, "{body}: {failure}");
    }
    let failure = run(
        &format!("{QUANTIZED}{own}nisa.quantize_mx(dst=q, src=x, dst_scale=s)"),
        inputs(),
        3,
    )
    .unwrap_err();
    assert!(failure.message.contains("NeuronCore-v4"), "{failure}");
}

#[test]
fn what_was_never_written_makes_unknown_groups_and_products() {
    let own = "s = nl.ndarray((64, 8), dtype=nl.uint8, buffer=nl.sbuf)\nt = nl.ndarray((64, 12), dtype=nl.uint8, buffer=nl.sbuf)\n";
    let inputs = || {
        vec![
            array(
                Dtype::Bfloat16,
                [64, 32],
                numbers(64 * 32, 3, Dtype::Bfloat16),
            ),
            array(
                Dtype::Bfloat16,
                [64, 48],
                numbers(64 * 48, 3, Dtype::Bfloat16),
            ),
        ]
    };
    let second = "nisa.quantize_mx(dst=r, src=y, dst_scale=t)\n";
    let without_scales = "nisa.quantize_mx(dst=q, src=x, dst_scale=t[:, 0:8])\n";
    let half = "w = nl.ndarray((64, 32), dtype=a.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=w[:, 0:30], src=x[:, 0:30])\nnisa.quantize_mx(dst=q, src=w, dst_scale=s)\n";
    for (first, unknown) in [(without_scales, 96), (half, 12)] {
        let found = run(
            &format!("{QUANTIZED}{own}{first}{second}{PRODUCT}"),
            inputs(),
            4,
        )
        .unwrap();
        assert_eq!(found.unwritten, unknown);
    }
}

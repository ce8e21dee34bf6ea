//! Patterns of bits of the types of elements, and operators on them.

use crate::attacks::{FIRST, SECOND, run};
use autocomp_trainium_sim::Dtype;
use autocomp_trainium_sim::POISON;
use autocomp_trainium_sim::inside::{Parts, decode, encode, keep, read, write};

#[test]
fn every_pattern_of_narrow_types_survives() {
    for dtype in Dtype::ALL.into_iter().filter(|it| it.bytes() < 4) {
        for bits in 0..1u32 << (8 * dtype.bytes()) {
            let value = decode(dtype, bits);
            let back = keep(encode(dtype, value), dtype.bytes());
            assert!(back == bits || value.is_nan(), "{} {bits:#x}", dtype.name());
            assert_eq!(
                dtype.store(dtype.load(value)).to_bits(),
                value.to_bits(),
                "{} {bits:#x}",
                dtype.name()
            );
        }
    }
}

#[test]
fn halves_of_a_word_are_its_bytes() {
    let mut data = [f32::from_bits(0x3F80_4000), 0.0];
    let mut parts = Parts::default();
    let types = (Dtype::Float32, Dtype::Bfloat16);
    let half = |data: &[f32], at| read(data, &Parts::default(), 0, types, at);
    assert_eq!(half(&data, 0), Some(2.0));
    assert_eq!(half(&data, 2), Some(1.0));
    assert_eq!(half(&data, 8), None);
    write(&mut data, &mut parts, 0, types, 6, 1.0);
    assert_eq!(data[1], 1.0);
    let words = [1.0, 2.0];
    assert_eq!(
        read(&words, &parts, 0, (Dtype::Bfloat16, Dtype::Float32), 0).map(f32::to_bits),
        Some(0x4000_3F80)
    );
}

#[test]
fn a_word_is_known_when_all_of_its_bytes_are() {
    let unknown = f32::from_bits(POISON);
    let mut data = [unknown, 1.0];
    let mut parts = Parts::default();
    let bytes = (Dtype::Float32, Dtype::Uint8);
    // Integers lie in memory as their bits.
    let number = |value: u32| f32::from_bits(value);
    for (at, value) in [(0, 0x00), (1, 0x40), (3, 0x3F)] {
        write(&mut data, &mut parts, 0, bytes, at, number(value));
        assert_eq!(data[0].to_bits(), POISON, "byte {at}");
    }
    let one = |data: &[f32], parts: &Parts, at| read(data, parts, 0, bytes, at).map(f32::to_bits);
    assert_eq!(one(&data, &parts, 3), Some(0x3F));
    assert_eq!(one(&data, &parts, 2), Some(POISON));
    write(&mut data, &mut parts, 0, bytes, 2, number(0x80));
    assert_eq!(data[0].to_bits(), 0x3F80_4000);
    // One byte that nothing has written makes the word unknown again.
    write(&mut data, &mut parts, 0, bytes, 5, unknown);
    assert_eq!(data[1].to_bits(), POISON);
    assert_eq!(one(&data, &parts, 7), Some(0x3F));
    assert_eq!(one(&data, &parts, 5), Some(POISON));
    // What is unknown stays so in narrower elements.
    let mut narrow = [1.0, 2.0];
    write(
        &mut narrow,
        &mut parts,
        8,
        (Dtype::Bfloat16, Dtype::Float32),
        0,
        unknown,
    );
    assert_eq!(narrow.map(f32::to_bits), [POISON; 2]);
}

/// Operators on bits see all 32 of them, and nothing is rounded or kept in a range.
#[test]
fn operators_on_bits_work_on_words() {
    let words = "a = t.view(nl.int32)\nb = t.view(nl.uint32)\n";
    let small = "h = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.memset(dst=h, value=5)\nnisa.tensor_scalar(dst=h, data=h, op0=nl.invert, operand0=None)\nnisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=0.0)\nnisa.tensor_tensor(dst=t, data1=t, data2=h, op=nl.add)";
    type Expected = fn(f32) -> f32;
    let cases: [(&str, Expected); 7] = [
        (
            "nisa.tensor_scalar(dst=b, data=b, op0=nl.bitwise_and, operand0=0xffffffff)",
            |it| it,
        ),
        (
            "nisa.tensor_scalar(dst=b, data=b, op0=nl.bitwise_xor, operand0=0x80000000)",
            |it| -it,
        ),
        (
            "nisa.tensor_scalar(dst=a, data=a, op0=nl.bitwise_xor, operand0=-2147483648)",
            |it| -it,
        ),
        (
            "nisa.tensor_scalar(dst=a, data=a, op0=nl.bitwise_and, operand0=0x7fffffff, op1=nl.bitwise_or, operand1=-2147483648)",
            |it| -it.abs(),
        ),
        (
            "nisa.tensor_tensor(dst=a, data1=a, data2=a, op=nl.bitwise_or)",
            |it| it,
        ),
        (
            "nisa.tensor_scalar(dst=b, data=b, op0=nl.right_shift, operand0=16, op1=nl.left_shift, operand1=16)",
            |it| f32::from_bits(it.to_bits() & 0xFFFF_0000),
        ),
        (small, |_| 250.0),
    ];
    for (body, expected) in cases {
        let body = format!("{words}{body}\nnisa.dma_copy(dst=o, src=t)");
        let evaluation = run(SECOND, &body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        let plain = run(SECOND, "nisa.dma_copy(dst=o, src=t)").expect("a copy");
        let both = evaluation.outputs[0]
            .data
            .iter()
            .zip(&plain.outputs[0].data);
        for (found, read) in both {
            assert_eq!(found.to_bits(), expected(*read).to_bits(), "{body}");
        }
    }
}

/// A reduction by bits sees words, too.
#[test]
fn reductions_by_bits_work_on_words() {
    type Expected = fn(u32, u32) -> u32;
    let cases: [(&str, Expected); 3] = [
        ("xor", |a, b| a ^ b),
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
    ];
    let plain = run(SECOND, "nisa.dma_copy(dst=o, src=t)").expect("a copy");
    for (name, apply) in cases {
        let body = format!(
            "b = t.view(nl.uint32)\nr = nl.ndarray((128, 1), dtype=nl.uint32, buffer=nl.sbuf)\nnisa.tensor_reduce(dst=r, op=nl.bitwise_{name}, data=b, axis=1)\nnisa.tensor_tensor(dst=b[:, 0:1], data1=r, data2=r, op=nl.bitwise_or)\nnisa.dma_copy(dst=o, src=t)"
        );
        let found = run(SECOND, &body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        let rows = found.outputs[0].data.chunks(512);
        for (row, read) in rows.zip(plain.outputs[0].data.chunks(512)) {
            let expected = read.iter().map(|it| it.to_bits()).reduce(apply);
            assert_eq!(Some(row[0].to_bits()), expected, "{name}");
        }
    }
}

/// The vendor's operators have the logical shift to the right alone.
#[test]
fn a_shift_to_the_right_brings_zeros() {
    let cases = [
        (
            SECOND,
            "nisa.memset(dst=i, value=-8)\nj = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.tensor_scalar(dst=j, data=i, op0=nl.right_shift, operand0=28)\nnisa.tensor_copy(dst=z, src=t)\nnisa.tensor_copy(dst=z[:, 0:1], src=j)\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            FIRST,
            "i = nl.full((128, 512), -8, dtype=nl.int32, buffer=nl.sbuf)\nnl.store(o, nisa.tensor_scalar(i, np.right_shift, 28))",
        ),
    ];
    for (head, body) in cases {
        let evaluation = run(head, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        assert_eq!(evaluation.outputs[0].data[0], 15.0, "{body}");
    }
}

/// What only moves keeps all of its bits, whatever type the kernel sees them as.
#[test]
fn words_that_are_moved_keep_their_bits() {
    let copies = [
        "nisa.dma_copy(dst=o.view(nl.TYPE), src=w.view(nl.TYPE))",
        "nisa.dma_copy(dst=z.view(nl.TYPE), src=w.view(nl.TYPE))\nnisa.dma_copy(dst=o, src=z)",
        "nisa.tensor_copy(dst=z.view(nl.TYPE), src=t.view(nl.TYPE))\nnisa.dma_copy(dst=o, src=z)",
        "nisa.tensor_copy(dst=z.view(nl.TYPE), src=t.view(nl.TYPE), engine=nisa.gpsimd_engine)\nnl.store(o, z)",
        "u = nl.load(w.view(nl.TYPE))\nnl.store(o.view(nl.TYPE), u)",
    ];
    let plain = run(SECOND, "nisa.dma_copy(dst=o, src=t)").expect("a copy");
    let bits = |it: &[f32]| it.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
    for copy in copies {
        for name in ["int32", "uint32", "float32", "int16", "uint8"] {
            let body = copy.replace("TYPE", name);
            let found = run(SECOND, &body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
            assert!(
                bits(&found.outputs[0].data) == bits(&plain.outputs[0].data),
                "{body}"
            );
        }
    }
    // Documentation of `tensor_copy`: the scalar engine casts to float32 on the way.
    let cast = "nisa.tensor_copy(dst=z.view(nl.int32), src=t.view(nl.int32), engine=nisa.scalar_engine)\nnisa.dma_copy(dst=o, src=z)";
    let found = run(SECOND, cast).expect("a copy");
    assert!(bits(&found.outputs[0].data) != bits(&plain.outputs[0].data));
}

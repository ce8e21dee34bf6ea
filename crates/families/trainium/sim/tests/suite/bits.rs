//! Patterns of bits of the types of elements.

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

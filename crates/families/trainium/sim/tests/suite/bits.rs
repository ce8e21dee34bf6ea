//! Patterns of bits of the types of elements.

use autocomp_trainium_sim::Dtype;
use autocomp_trainium_sim::inside::{decode, encode, keep, read, write};

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
    let half = |data: &[f32], at| read(data, Dtype::Float32, Dtype::Bfloat16, at);
    assert_eq!(half(&data, 0), Some(2.0));
    assert_eq!(half(&data, 2), Some(1.0));
    assert_eq!(half(&data, 8), None);
    write(&mut data, Dtype::Float32, Dtype::Bfloat16, 6, 1.0);
    assert_eq!(data[1], 1.0);
    let words = [1.0, 2.0];
    assert_eq!(
        read(&words, Dtype::Bfloat16, Dtype::Float32, 0).map(f32::to_bits),
        Some(0x4000_3F80)
    );
}

//! Values as elements.

use autocomp_catalog::DataType;

#[test]
fn values_are_rounded_to_the_nearest_element() {
    for (dtype, value, expected) in [
        (DataType::Int8, 300.0, 127.0),
        (DataType::UInt8, -3.0, 0.0),
        (DataType::UInt8, 254.5, 254.0),
        (DataType::Float16, 1.0 + 1.0 / 4096.0, 1.0),
        (DataType::BFloat16, 1.0 + 3.0 / 256.0, 1.015625),
        (DataType::Float32, 0.5, 0.5),
    ] {
        let mut bytes = Vec::new();
        dtype.push(value, &mut bytes);
        assert_eq!(bytes.len(), dtype.bytes());
        assert_eq!(dtype.value(&bytes), expected, "{dtype:?} {value}");
    }
}

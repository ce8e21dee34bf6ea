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
        (DataType::Int16, -40000.0, -32768.0),
        (DataType::UInt16, 65535.6, 65535.0),
        (DataType::UInt32, 4_294_967_295.0, 4_294_967_295.0),
        (DataType::UInt32, -1.0, 0.0),
        (DataType::Bool, 0.25, 1.0),
        (DataType::Bool, 0.0, 0.0),
        (DataType::Float8E4M3, 247.0, 240.0),
        (DataType::Float8E4M3, 249.0, f64::INFINITY),
        (DataType::Float8E4M3Fn, 460.0, 448.0),
        (DataType::Float8E5M2, 1.125, 1.0),
        (DataType::Float8E5M2, 1.375, 1.5),
        (DataType::Float8E5M2, -57344.0, -57344.0),
        // Half of the smallest number is a tie, which goes to zero.
        (DataType::Float8E4M3, 1.0 / 1024.0, 0.0),
        (DataType::Float8E4M3, 1.1 / 1024.0, 1.0 / 512.0),
    ] {
        let mut bytes = Vec::new();
        dtype.push(value, &mut bytes);
        assert_eq!(bytes.len(), dtype.bytes());
        assert_eq!(dtype.value(&bytes), expected, "{dtype:?} {value}");
    }
}

#[test]
fn eight_bit_numbers_are_those_of_their_formats() {
    for (dtype, largest, finite, smallest) in [
        (DataType::Float8E4M3, 240.0, 240, 1.0 / 512.0),
        (DataType::Float8E4M3Fn, 448.0, 254, 1.0 / 512.0),
        (DataType::Float8E5M2, 57344.0, 248, 1.0 / 65536.0),
    ] {
        let all: Vec<f64> = (0..=255).map(|bits| dtype.value(&[bits])).collect();
        let values: Vec<f64> = all.iter().copied().filter(|it| it.is_finite()).collect();
        assert_eq!(values.len(), finite, "{dtype:?}");
        assert_eq!(values.iter().copied().fold(0.0, f64::max), largest);
        let positive = values.iter().copied().filter(|it| 0.0 < *it);
        assert_eq!(positive.fold(f64::MAX, f64::min), smallest);
        for (bits, value) in all.iter().enumerate() {
            let mut bytes = Vec::new();
            dtype.push(*value, &mut bytes);
            // Bits of what is no number are one of several.
            if value.is_nan() {
                assert!(dtype.value(&bytes).is_nan(), "{dtype:?} {bits}");
            } else {
                assert_eq!(bytes, [bits as u8], "{dtype:?} {value}");
            }
            // Nothing in between rounds to a third number.
            let above = all
                .iter()
                .copied()
                .filter(|it| value < it)
                .fold(f64::INFINITY, f64::min);
            if value.is_finite() && above.is_finite() {
                let quarter = value + (above - value) / 4.0;
                let mut bytes = Vec::new();
                dtype.push(quarter, &mut bytes);
                assert_eq!(dtype.value(&bytes), *value, "{dtype:?} {quarter}");
            }
        }
    }
}

#[test]
fn every_type_has_a_name_a_size_and_a_type_in_c() {
    for dtype in DataType::ALL {
        let size = match dtype.c_name() {
            "int8_t" | "uint8_t" => 1,
            "int16_t" | "uint16_t" => 2,
            "int32_t" | "uint32_t" | "float" => 4,
            other => panic!("{other}"),
        };
        assert_eq!(dtype.bytes(), size, "{dtype:?}");
        let mut bytes = Vec::new();
        dtype.push(1.0, &mut bytes);
        assert_eq!(dtype.shown(&bytes), "1");
    }
}

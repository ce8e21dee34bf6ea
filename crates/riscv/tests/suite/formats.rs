//! Which formats of numbers a program computes with.

use autocomp_riscv::float_formats;

const START: u64 = 0x8000_0000;
const RETURN: u32 = 0x0000_8067;
const ADD_SINGLE: u32 = 0x0000_0053;
const ADD_DOUBLE: u32 = 0x0200_0053;
const ADD_HALF: u32 = 0x0400_0053;

/// Returns the widths of the formats that a program of `words` computes with.
fn widths(words: &[u32]) -> Vec<u32> {
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let found = float_formats(&code, START, START);
    let formats = [(16, found.half), (32, found.single), (64, found.double)];
    let used = formats.into_iter().filter(|(_, is_used)| *is_used);
    used.map(|(width, _)| width).collect()
}

#[test]
fn formats_are_those_of_operations_and_conversions() {
    let (single_of_double, double_of_single) = (0x4010_0053, 0x4200_0053);
    let fused_double = 0x0200_0043;
    let (load_double, store_double, integers) = (0x0000_3007, 0x0000_3027, 0x0000_0033);
    for (words, expected) in [
        (&[][..], &[][..]),
        (&[integers, load_double, store_double], &[]),
        (&[ADD_SINGLE], &[32]),
        (&[ADD_SINGLE, ADD_DOUBLE], &[32, 64]),
        (&[ADD_HALF], &[16]),
        (&[single_of_double], &[32, 64]),
        (&[double_of_single], &[32, 64]),
        (&[fused_double], &[64]),
    ] {
        assert_eq!(widths(words), expected, "{words:x?}");
    }
}

#[test]
fn vectors_have_the_widths_that_the_program_sets() {
    let (set_64, set_16, set_any) = (0x0d80_7057, 0xc080_7057, 0x8000_7057);
    let (add_floats, add_float, add_integers) = (0x0200_1057, 0x0200_5057, 0x0200_0057);
    for (words, expected) in [
        (&[set_64, add_integers][..], &[][..]),
        (&[set_64, add_floats], &[64]),
        (&[set_16, add_float, set_64], &[16, 64]),
        (&[set_any, add_floats], &[16, 32, 64]),
    ] {
        assert_eq!(widths(words), expected, "{words:x?}");
    }
}

#[test]
fn functions_that_are_never_called_are_left_out() {
    // `jal x0, +8`, `jal ra, +8`, `beq x0, x0, +8`, `auipc t1, 0; jalr ra, 12(t1)`, `jr t1`.
    let (jump, call, branch) = (0x0080_006f, 0x0080_00ef, 0x0000_0463);
    let (address, far_call, anywhere) = (0x0000_0317, 0x00c3_00e7, 0x0003_0067);
    for (words, expected) in [
        (&[RETURN, ADD_DOUBLE][..], &[][..]),
        (&[jump, ADD_DOUBLE, ADD_SINGLE], &[32]),
        (&[call, ADD_DOUBLE, ADD_SINGLE], &[32, 64]),
        (&[branch, RETURN, ADD_SINGLE], &[32]),
        (&[branch, ADD_HALF, ADD_SINGLE], &[16, 32]),
        (&[address, far_call, RETURN, ADD_DOUBLE], &[64]),
        (&[anywhere, ADD_SINGLE, ADD_DOUBLE], &[32, 64]),
    ] {
        assert_eq!(widths(words), expected, "{words:x?}");
    }
}

/// Instructions of 16 bits stand before others at odd places; what is cut off at the end is none.
#[test]
fn instructions_of_two_bytes_are_read() {
    let nothing = 0x0001u16.to_le_bytes();
    let code = [&nothing[..], &ADD_DOUBLE.to_le_bytes(), &nothing].concat();
    assert!(float_formats(&code, START, START).double);
    assert!(!float_formats(&code[..5], START, START).double);
    assert!(!float_formats(&code, START, START + 8).double);
}

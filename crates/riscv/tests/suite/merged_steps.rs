//! Instructions that share a step with one before do what they do in steps of their own.
//!
//! Short random programs of frequent instructions run without time, with that of the pipeline
//! (which joins others) and with that of a scoreboard, noting causes or not; what they leave must be
//! the same.

use crate::interpreter::Nothing;
use crate::rocket::core_config;
use autocomp_riscv::{
    BranchTiming, Exit, Hart, Limits, Memory, MemoryLevel, Mode, ScalarClass, ScalarCost,
    ScoreboardConfig,
};
use proptest::prelude::*;

const BASE: u64 = 0x8000_0000;
const BYTES: usize = 0x2000;
const EBREAK: u32 = 0x0010_0073;

/// Frequent instructions without their registers and immediates, and which bits those may take.
const FORMS: [(u32, u32); 52] = {
    // Registers are `x8` to `x11`: their two lowest bits are free.
    const R: u32 = 3 << 7 | 3 << 15 | 3 << 20;
    const I: u32 = 3 << 7 | 3 << 15 | 0x7ff << 20;
    const B: u32 = 3 << 15 | 3 << 20;
    const LOAD: u32 = 3 << 7 | 3 << 15 | 0xf << 20;
    const BASE_R: u32 = 8 << 7 | 8 << 15 | 8 << 20;
    const BASE_I: u32 = 8 << 7 | 8 << 15;
    [
        (0x37 | BASE_I, 0xfff << 20 | 3 << 7),
        (0x13 | BASE_I, I),
        (0x4013 | BASE_I, I),
        (0x6013 | BASE_I, I),
        (0x7013 | BASE_I, I),
        (0x3013 | BASE_I, I),
        (0x1013 | BASE_I, 3 << 7 | 3 << 15 | 63 << 20),
        (0x5013 | BASE_I, 3 << 7 | 3 << 15 | 63 << 20),
        (0x4000_5013 | BASE_I, 3 << 7 | 3 << 15 | 63 << 20),
        (0x1b | BASE_I, I),
        (0x101b | BASE_I, 3 << 7 | 3 << 15 | 31 << 20),
        (0x501b | BASE_I, 3 << 7 | 3 << 15 | 31 << 20),
        (0x33 | BASE_R, R),
        (0x4000_0033 | BASE_R, R),
        (0x3033 | BASE_R, R),
        (0x4033 | BASE_R, R),
        (0x6033 | BASE_R, R),
        (0x7033 | BASE_R, R),
        (0x3b | BASE_R, R),
        (0x4000_003b | BASE_R, R),
        (0x0200_0033 | BASE_R, R),
        (0x0200_003b | BASE_R, R),
        // Branches over the next instruction.
        (0x0463 | 8 << 15 | 8 << 20, B),
        (0x1463 | 8 << 15 | 8 << 20, B),
        (0x4463 | 8 << 15 | 8 << 20, B),
        (0x5463 | 8 << 15 | 8 << 20, B),
        (0x6463 | 8 << 15 | 8 << 20, B),
        (0x7463 | 8 << 15 | 8 << 20, B),
        // Loads, three times as often: some lie where they should not.
        (0x03 | BASE_I, LOAD),
        (0x1003 | BASE_I, LOAD),
        (0x2003 | BASE_I, LOAD),
        (0x3003 | BASE_I, LOAD),
        (0x4003 | BASE_I, LOAD),
        (0x5003 | BASE_I, LOAD),
        (0x6003 | BASE_I, LOAD),
        (0x2007 | BASE_I, LOAD),
        (0x2007 | BASE_I, LOAD),
        (0x2007 | BASE_I, LOAD),
        (0x3007 | BASE_I, LOAD),
        (0x3007 | BASE_I, LOAD),
        (0x3007 | BASE_I, LOAD),
        // Stores.
        (0x23 | 8 << 15 | 8 << 20, B | 3 << 7),
        (0x1023 | 8 << 15 | 8 << 20, B | 3 << 7),
        (0x2023 | 8 << 15 | 8 << 20, B | 3 << 7),
        (0x3023 | 8 << 15 | 8 << 20, B | 3 << 7),
        (0x2027 | 8 << 15 | 8 << 20, B | 3 << 7),
        (0x3027 | 8 << 15 | 8 << 20, B | 3 << 7),
        // Fused products, rounded to nearest or as the register says.
        (0x43 | 8 << 7 | 8 << 15 | 8 << 20 | 8 << 27, R | 3 << 27),
        (0x7043 | 8 << 7 | 8 << 15 | 8 << 20 | 8 << 27, R | 3 << 27),
        (
            0x0200_7043 | 8 << 7 | 8 << 15 | 8 << 20 | 8 << 27,
            R | 3 << 27,
        ),
        (0x7047 | 8 << 7 | 8 << 15 | 8 << 20 | 8 << 27, R | 3 << 27),
        (
            0x0200_704b | 8 << 7 | 8 << 15 | 8 << 20 | 8 << 27,
            R | 3 << 27,
        ),
    ]
};

/// Instructions, two of a kind now and then.
fn program() -> impl Strategy<Value = Vec<u32>> {
    let form = prop::sample::select(FORMS.to_vec());
    let one = (form, any::<u32>(), any::<u32>(), any::<bool>());
    let one = one.prop_map(|((word, free), first, second, twice)| {
        let first = word | first & free;
        let second = if twice { word | second & free } else { first };
        [first, second]
    });
    prop::collection::vec(one, 2..8).prop_map(|pairs| pairs.concat())
}

/// Mostly addresses in memory, aligned; some numbers, of which some are boxed ones.
fn value() -> impl Strategy<Value = u64> {
    let address = || (0..BYTES as u64 / 8 - 1).prop_map(|place| BASE + 8 * place);
    prop_oneof![
        address(),
        address(),
        address(),
        any::<u64>(),
        any::<f32>().prop_map(|number| u64::from(number.to_bits()) | !0 << 32),
        (-4i8..4).prop_map(|number| u64::from(f32::from(number).to_bits()) | !0 << 32),
        any::<f64>().prop_map(f64::to_bits),
    ]
}

fn board() -> ScoreboardConfig {
    let level = |name: &str, bytes, latency| MemoryLevel {
        name: name.into(),
        bytes,
        ways: usize::from(bytes > 0) * 2,
        latency,
        read_line_cycles: 4.0,
        write_line_cycles: 4.0,
    };
    let unit = |classes: &[ScalarClass], name: &str, latency| ScalarCost {
        classes: classes.to_vec(),
        unit: Some(name.into()),
        busy: 1.0,
        latency,
    };
    ScoreboardConfig {
        issue_width: 2,
        scalar: vec![
            unit(&[ScalarClass::Load, ScalarClass::Store], "port", 3),
            unit(&[ScalarClass::FloatFused], "floats", 5),
        ],
        branches: BranchTiming {
            taken_cycles: 1.0,
            mispredict_cycles: 7.0,
            counter_bits: 4,
            history_bits: 2,
            return_stack: 2,
        },
        instruction_cache: level("L1I", 1024, 0),
        data_cache: level("L1D", 1024, 0),
        levels: vec![level("memory", 0, 30)],
        lines_ahead: 2,
        streams: 2,
        store_buffer: 2,
        vector: None,
    }
}

/// Runs a program three times from its start; returns what it leaves, and the cycle.
fn run(mut hart: Hart, code: &[u32], x: &[u64], f: &[u64]) -> (String, Vec<u8>, u64) {
    let mut memory = Memory::new(BASE, BYTES);
    let ends = [EBREAK; 2];
    let bytes: Vec<u8> = [code, &ends]
        .concat()
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    memory
        .host_mut(BASE, bytes.len())
        .expect("the code fits")
        .copy_from_slice(&bytes);
    let mut said = Vec::new();
    for round in 0..3 {
        hart.set_pc(BASE);
        for (place, value) in x.iter().enumerate() {
            hart.set_register(8 + place, value.rotate_left(round));
        }
        for (place, bits) in f.iter().enumerate() {
            hart.set_float_register(8 + place, *bits);
        }
        let limits = Limits {
            instructions: hart.instructions() + 1000,
            cycles: u64::MAX,
        };
        let exit = match hart.run(&mut memory, &mut Nothing, limits) {
            Exit::Fault(fault) => format!("{fault:?}"),
            other => format!("{other:?}"),
        };
        let registers: Vec<[u64; 2]> = (0..32)
            .map(|number| [hart.register(number), hart.float_register(number)])
            .collect();
        let (count, status) = (hart.instructions(), hart.float_status());
        said.push(format!("{exit} {count} {status} {registers:x?}"));
    }
    let left = memory.host(BASE, BYTES).expect("memory").to_vec();
    (said.join("\n"), left, hart.cycle())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn instructions_that_share_a_step_do_the_same(
        code in program(),
        x in prop::collection::vec(value(), 8),
        f in prop::collection::vec(value(), 8),
    ) {
        let hart = |mode| Hart::new(&core_config(64, 4), mode);
        let clocked = hart(Mode::Timed).with_scoreboard(&board());
        let mut noting = clocked.clone();
        noting.note_causes(BASE);
        let functional = run(hart(Mode::Functional), &code, &x, &f);
        let timed = run(hart(Mode::Timed), &code, &x, &f);
        let (clocked, noting) = (run(clocked, &code, &x, &f), run(noting, &code, &x, &f));
        prop_assert_eq!(&functional.0, &timed.0);
        prop_assert_eq!(&functional.0, &clocked.0);
        prop_assert_eq!(&functional.0, &noting.0);
        prop_assert!(functional.1 == timed.1 && functional.1 == clocked.1);
        prop_assert_eq!(clocked.2, noting.2);
    }
}

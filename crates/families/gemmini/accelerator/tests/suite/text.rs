//! Disassembly, as diagnostics show it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::driver;

use autocomp_gemmini::{GemminiConfig, LoopConvLayout, decode};
use driver::instances::int8_16;
use driver::{ACC, ADD, BASE, FULL, NONE, high, tile};

#[test]
fn commands_read_as_text() {
    let config = int8_16();
    let commands = [
        (0, high(1.0) | 1 << 16 | 4, 1 << 48),
        (0, high(1.0) | 2 << 16 | 1 << 8 | 8, 1 << 48 | 3),
        (0, 1 << 7 | 5 << 16, 7 << 48),
        (0, high(0.5) | 16 << 16 | 1 << 3 | 1, 512),
        (0, high(1.0) | 16 << 16 | 3 << 8 | 2 << 3 | 4 | 1, 512),
        (0, 1 << 2 | 2, high(0.125) | 64),
        (
            0,
            2 << 4 | 3 << 6 | 5 << 32 | 6 << 40 | 7 << 48 | 8 << 56 | 2,
            0xffff_ffff << 32 | 64,
        ),
        (0, 1 << 8 | 1 << 17 | 3, 0),
        (2, BASE, tile(0, 64, 16)),
        (1, BASE, tile(4096, 16, 16)),
        (14, 0, tile(ADD + 32, 16, 4)),
        (3, BASE, tile(FULL + 5, 16, 16)),
        (3, BASE, tile(ACC | 2 << 26, 16, 1)),
        (6, tile(NONE, 16, 16), tile(ADD, 16, 8)),
        (4, tile(0, 12, 8), tile(0xe000_7fff, 16, 16)),
        (5, tile(16, 16, 16), tile(64, 16, 16)),
        (7, 0, 0),
        (9, 3 << 32 | 2 << 16 | 1, 6 << 32 | 5 << 16 | 4),
        (8, 1 << 16 | 3, 1),
        (22, 1, 0),
        (126, 3 << 4, 0),
    ];
    let lines: Vec<String> = commands
        .iter()
        .map(|(funct, rs1, rs2)| decode(&config, *funct, *rs1, *rs2).unwrap().to_string())
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    config_ex ws shift=0 a_stride=1 c_stride=1
    config_ex os Relu a_transpose shift=3 a_stride=2 c_stride=1
    config_ex a_stride=5 c_stride=7
    config_ld id=1 stride=512 scale=0.5 block_stride=16
    config_ld id=2 stride=512 scale=1 block_stride=16 pixel_repeats=3 shrink
    config_st stride=64 scale=0.125 Relu
    config_st stride=64 scale=keep pool 3x3/2 image 7x8 result 5x6
    config_norm stats_id=1
    mvin 0x80000000 -> spad[0] 16x64
    mvin2 0x80000000 -> spad[4096] 16x16
    mvin3 0x0 -> acc[32]+ 4x16
    mvout acc[5].full 16x16 -> 0x80000000
    mvout acc[0].Mean 1x16 -> 0x80000000
    preload none 16x16, result acc[0]+ 8x16
    compute_preloaded spad[0] 8x12, none 16x16
    compute_accumulated spad[16] 16x16, spad[64] 16x16
    flush
    loop_ws_config Bounds { pad_i: 1, pad_j: 2, pad_k: 3, i: 4, j: 5, k: 6 }
    loop_ws MatmulRun { accumulate: true, full_c: true, low_d: false, activation: 0, b_spad_id: 1, a_spad_id: 0, a_transpose: true, b_transpose: false, is_resadd: false }
    clock_gate on
    counter 3
    ");
}

#[test]
fn both_layouts_of_the_convolution_loop_mean_the_same() {
    // The same 3x3 convolution over 18 x 18 pixels, 16 channels in, 32 out.
    let square = GemminiConfig {
        loop_conv_layout: LoopConvLayout::Square,
        ..int8_16()
    };
    let later = int8_16();
    let mut parameters = [autocomp_gemmini::ConvParameters::default(); 2];
    let commands: [[(u8, u64, u64); 4]; 2] = [
        [
            (
                16,
                32 << 48 | 16 << 32 | 18 << 16 | 1,
                1 << 32 | 16 << 16 | 16,
            ),
            (
                17,
                3 << 48 | 1 << 32 | 1 << 16,
                1 << 48 | 4 << 32 | 16 << 16 | 32,
            ),
            (18, 3 << 48 | 3 << 32 | 16 << 16, 0),
            (19, 4 << 48, 1 << 16 | 16),
        ],
        [
            (
                16,
                32 << 48 | 16 << 32 | 18 << 16 | 1,
                1 << 48 | 16 << 32 | 16 << 16 | 16,
            ),
            (
                17,
                3 << 48 | 16 << 32 | 1 << 16 | 1 << 8,
                1 << 48 | 4 << 32 | 16 << 16 | 32,
            ),
            (18, 3 << 48 | 3 << 32 | 16 << 16, 18),
            (19, 4 << 48 | 1, 16 << 48 | 32 << 32 | 32 << 16 | 16),
        ],
    ];
    for (at, config) in [square, later].iter().enumerate() {
        for (funct, rs1, rs2) in commands[at] {
            match decode(config, funct, rs1, rs2).unwrap() {
                autocomp_gemmini::Instruction::LoopConvConfig(command) => {
                    parameters[at].set(command)
                }
                other => panic!("{other}"),
            }
        }
    }
    let [mut square, later] = parameters;
    assert_eq!((square.in_stride, later.in_stride), (None, Some(16)));
    (square.in_stride, square.weight_stride, square.out_stride) = (Some(16), Some(32), Some(32));
    assert_eq!(square, later);
}

//! Special registers: what threads know of themselves, of their block and of the launch.

use super::launch::Launch;
use super::warp::Warp;
use crate::decode::{Kernel, SPECIAL};

/// Where `%ctaid.x` lies among special registers; `%ctaid.y` and `%ctaid.z` follow.
const POSITION: usize = {
    let mut at = 0;
    while !matches!(SPECIAL[at].as_bytes(), b"%ctaid.x") {
        at += 1;
    }
    assert!(matches!(SPECIAL[at + 1].as_bytes(), b"%ctaid.y"));
    assert!(matches!(SPECIAL[at + 2].as_bytes(), b"%ctaid.z"));
    at
};

/// Sets all special registers of a warp but the position of its block. No kernel can write
/// them, so that they hold for all blocks of the launch.
pub(super) fn fill(warp: &mut Warp, kernel: &Kernel, launch: &Launch) {
    let first = kernel.first_special as usize;
    for (idx, name) in SPECIAL.iter().enumerate() {
        let of = |lane: u32| {
            let thread = launch.thread(warp.number * 32 + lane);
            match *name {
                "%tid.x" => thread[0],
                "%tid.y" => thread[1],
                "%tid.z" => thread[2],
                "%ntid.x" => launch.block[0],
                "%ntid.y" => launch.block[1],
                "%ntid.z" => launch.block[2],
                "%nctaid.x" => launch.grid[0],
                "%nctaid.y" => launch.grid[1],
                "%nctaid.z" => launch.grid[2],
                "%laneid" => lane,
                "%warpid" => warp.number,
                "%nwarpid" => launch.threads().div_ceil(32),
                "%lanemask_eq" => 1 << lane,
                "%lanemask_lt" => (1 << lane) - 1,
                "%lanemask_le" => ((1_u64 << (lane + 1)) - 1) as u32,
                "%lanemask_gt" => !(((1_u64 << (lane + 1)) - 1) as u32),
                "%lanemask_ge" => !((1 << lane) - 1),
                "%dynamic_smem_size" => launch.dynamic_shared,
                "%total_smem_size" => launch.shared_bytes(kernel) as u32,
                "%nsmid" => 1,
                _ => 0,
            }
        };
        for lane in 0..32 {
            warp.words[first + idx][lane as usize] = of(lane);
        }
    }
}

/// Sets the position of the block that a warp is of.
pub(super) fn place(warp: &mut Warp, kernel: &Kernel, position: [u32; 3]) {
    let first = kernel.first_special as usize + POSITION;
    for (word, value) in warp.words[first..].iter_mut().zip(position) {
        *word = [value; 32];
    }
}

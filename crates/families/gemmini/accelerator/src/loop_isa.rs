//! Commands of the two loop units and the parameter sets they fill.
//!
//! Source: Gemmini `LoopMatmul`, `LoopConv` and their C interface; the square
//! layout is that of netlists up to early 2023.

mod conv;
mod matmul;

pub use conv::{ConvConfig, ConvParameters, ConvRun};
pub use matmul::{MatmulConfig, MatmulParameters, MatmulRun};

fn half(value: u64, at: u32) -> u16 {
    (value >> at) as u16
}

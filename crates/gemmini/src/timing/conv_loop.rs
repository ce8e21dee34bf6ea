//! The convolution loop unit.

use super::matmul_loop::Emitted;
use crate::loop_conv::ConvLoop;

#[derive(Clone, Debug)]
pub(super) struct ConvUnit {
    pub(super) outstanding: [u32; 3],
}

impl ConvUnit {
    pub(super) fn new(
        _limits: [u32; 3],
        _b: u32,
        _ba: u32,
        _latency: u32,
        _e: u32,
        _a: u32,
    ) -> Self {
        Self {
            outstanding: [0; 3],
        }
    }
    pub(super) fn is_active(&self) -> bool {
        false
    }
    pub(super) fn has_room(&self) -> bool {
        true
    }
    pub(super) fn start(&mut self, _plan: ConvLoop, _pc: u64) {}
    pub(super) fn step(&mut self, _room: bool) -> (Option<Emitted>, bool) {
        (None, false)
    }
}

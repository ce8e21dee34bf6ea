//! Kernels written for tests, and what comes of a run.

use autocomp_cuda_sim::decode::{Kernel, buffer_address};
use autocomp_cuda_sim::machine::{DeviceMemory, Finding, Launch, Limits, Order, Run};
use autocomp_cuda_sim::{Module, PtxError};

/// What the tests' device accepts.
pub const LIMITS: Limits = Limits {
    threads: 1024,
    shared_bytes: 101_376,
    static_shared_bytes: 49_152,
};

/// Puts a body into a kernel with the arguments `x` and `y`, two pointers, and 16 registers of
/// each kind. The address of `x` stands in `%x`, that of `y` in `%y`, `%tid.x` in `%t`, and
/// four times that in `%t4`.
pub fn kernel_of(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_89
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{{
 .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %d<16>; .reg .b16 %h<16>; .reg .pred %p<16>;
 .reg .b32 %t; .reg .b64 %x; .reg .b64 %y; .reg .b64 %t4;
 .shared .align 16 .b8 s[1024];
 ld.param.u64 %x, [x];
 ld.param.u64 %y, [y];
 mov.u32 %t, %tid.x;
 mul.wide.u32 %t4, %t, 4;
{body}
 ret;
}}
"
    )
}

/// Reads a module with one kernel.
pub fn read(text: &str) -> Result<(Module, Kernel), PtxError> {
    let module = autocomp_cuda_sim::parse(text, "kernel.cu")?;
    let kernel = autocomp_cuda_sim::decode(&module)?.remove(0);
    Ok((module, kernel))
}

/// Runs a kernel on buffers `x`, which is filled, and `y`, which is not, and returns `y`.
pub fn run(
    text: &str,
    shape: (u32, u32),
    x: &[u8],
    y_bytes: usize,
    order: Order,
) -> Result<Vec<u8>, Box<Finding>> {
    run_if(true, text, shape, x, y_bytes, order)
}

/// Does the same; only if `is_watched`, races and reads of what nobody wrote are looked for.
pub fn run_if(
    is_watched: bool,
    text: &str,
    (blocks, threads): (u32, u32),
    x: &[u8],
    y_bytes: usize,
    order: Order,
) -> Result<Vec<u8>, Box<Finding>> {
    let (module, kernel) = read(text).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = DeviceMemory::new(&module);
    let buffers = [
        memory.add_buffer(x.to_vec(), true),
        memory.add_buffer(vec![0; y_bytes], false),
    ];
    let launch = Launch {
        kernel: kernel.name.clone(),
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        allowed_shared: 0,
        arguments: buffers
            .iter()
            .flat_map(|it| buffer_address(*it).to_le_bytes())
            .collect(),
    };
    let run = Run {
        order,
        is_watched,
        together: 4,
        most_steps: 100_000,
        limits: LIMITS,
    };
    launch.run(&kernel, &mut memory, run)?;
    Ok(memory.buffer(buffers[1]).to_vec())
}

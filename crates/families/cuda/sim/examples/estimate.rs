//! How long a launch takes by the model, and what limits it.
//!
//! `estimate MACHINE.toml FILE.ptx KERNEL GX,GY,GZ BX,BY,BZ warm|cold[-sampled] ARGUMENT...` where an
//! argument is `b:BYTES` (a buffer of random floats), `i:WHOLE`, `l:LONG` or `f:FLOAT`; `s:BYTES` is no
//! argument but dynamic shared memory.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example: it tells, and panics where it is called wrongly"
)]

use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::{DeviceMemory, Launch};
use autocomp_cuda_sim::timing::{L2, Machine, Sampling, estimate};

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let machine = Machine::parse(&std::fs::read_to_string(&given[1]).unwrap()).unwrap();
    let module =
        autocomp_cuda_sim::parse(&std::fs::read_to_string(&given[2]).unwrap(), "kernel.cu")
            .unwrap();
    let kernels = autocomp_cuda_sim::decode(&module).unwrap();
    let kernel = kernels
        .iter()
        .find(|it| it.name.contains(&given[3]))
        .unwrap();
    let triple = |text: &str| -> [u32; 3] {
        let mut parts = text.split(',').map(|it| it.parse().unwrap());
        std::array::from_fn(|_| parts.next().unwrap_or(1))
    };
    let mut memory = DeviceMemory::new(&module);
    let mut arguments = Vec::new();
    let (mut footprint, mut dynamic_shared) = (0, 0);
    let mut state = 1_u64;
    for argument in &given[7..] {
        let (kind, value) = argument.split_once(':').unwrap();
        if kind == "s" {
            dynamic_shared = value.parse().unwrap();
            continue;
        }
        let (bytes, align) = match kind {
            "b" => {
                let bytes: usize = value.parse().unwrap();
                footprint += bytes as u64;
                let mut content = Vec::with_capacity(bytes);
                while content.len() < bytes {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    content.extend_from_slice(&((state >> 40) as f32 / 16_777_216.0).to_le_bytes());
                }
                content.truncate(bytes);
                let buffer = memory.add_buffer(content, true);
                (buffer_address(buffer).to_le_bytes().to_vec(), 8)
            }
            "i" => (value.parse::<i32>().unwrap().to_le_bytes().to_vec(), 4),
            "l" => (value.parse::<i64>().unwrap().to_le_bytes().to_vec(), 8),
            _ => (value.parse::<f32>().unwrap().to_le_bytes().to_vec(), 4),
        };
        arguments.resize(arguments.len().next_multiple_of(align), 0);
        arguments.extend(bytes);
    }
    let launch = Launch {
        kernel: kernel.name.clone(),
        grid: triple(&given[4]),
        block: triple(&given[5]),
        dynamic_shared,
        allowed_shared: dynamic_shared,
        arguments,
    };
    let mut l2 = match given[6].starts_with("warm") {
        true => L2::warm(footprint),
        false => L2::cold(),
    };
    let found = estimate(
        &launch,
        kernel,
        &mut memory,
        &machine,
        Sampling {
            blocks: 4,
            seed: 0,
            most_steps: u64::MAX,
            // No others run: for launches that are too large to run whole.
            alone: given[6].ends_with("-sampled"),
        },
        &mut l2,
    );
    match found {
        Ok(found) => {
            print!(
                "{:.2} us regs {} resident {} waves {:.1}",
                found.ns / 1000.0,
                found.registers,
                found.resident_blocks,
                found.waves
            );
            for part in found.parts.iter().take(6) {
                print!(" {} {:.1}", part.name, part.ns / 1000.0);
            }
            println!();
        }
        Err(finding) => println!("{finding:?}"),
    }
}

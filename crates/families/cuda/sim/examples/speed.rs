//! How fast the interpreter is: runs a kernel of a PTX file on buffers of random floats.
//!
//! `speed FILE KERNEL GRIDX GRIDY BLOCKX BLOCKY WATCHED(0|1) ORDER(all|N) BYTES...`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "an example")]

use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::{DeviceMemory, Launch, Limits, Order, Run};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&arguments[1]).unwrap();
    let module = match autocomp_cuda_sim::parse(&text, "g.cu") {
        Ok(module) => module,
        Err(error) => return println!("{error}"),
    };
    let kernels = match autocomp_cuda_sim::decode(&module) {
        Ok(kernels) => kernels,
        Err(error) => return println!("{error}"),
    };
    let kernel = kernels
        .iter()
        .find(|it| it.name.contains(&arguments[2]))
        .unwrap();
    let number = |at: usize| arguments[at].parse::<u32>().unwrap();
    let mut memory = DeviceMemory::new(&module);
    let mut block_of_arguments = Vec::new();
    let mut state = 1_u64;
    for bytes in &arguments[9..] {
        let bytes: usize = bytes.parse().unwrap();
        let mut content = Vec::new();
        for _ in 0..bytes / 4 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let value = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
            content.extend_from_slice(&value.to_le_bytes());
        }
        let buffer = memory.add_buffer(content, true);
        block_of_arguments.extend_from_slice(&buffer_address(buffer).to_le_bytes());
    }
    let launch = Launch {
        kernel: kernel.name.clone(),
        grid: [number(3), number(4), 1],
        block: [number(5), number(6), 1],
        dynamic_shared: 0,
        allowed_shared: 0,
        arguments: block_of_arguments,
    };
    let run = Run {
        order: Order::Forward,
        is_watched: number(7) != 0,
        together: 1,
        most_steps: u64::MAX,
        limits: Limits {
            threads: 1024,
            shared_bytes: 101_376,
            static_shared_bytes: 49_152,
        },
    };
    let start = std::time::Instant::now();
    let result = launch.run(kernel, &mut memory, run);
    let seconds = start.elapsed().as_secs_f64();
    println!("{result:?} {seconds} s");
    if let Ok(steps) = result {
        println!("{:.1} M steps/s", steps as f64 / seconds / 1e6);
    }
    let floats = |number: u32| -> Vec<f32> {
        let bytes = memory.buffer(number).chunks(4);
        bytes
            .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]))
            .collect()
    };
    let last = arguments.len() as u32 - 10;
    println!("{:?}", &floats(0)[..4]);
    println!("{:?}", &floats(last)[..32]);
}

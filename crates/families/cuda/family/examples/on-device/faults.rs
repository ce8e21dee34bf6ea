//! Kernels that break a rule, each in a worker of its own, and a right one after each.

use crate::{Place, two_buffers};
use autocomp_core::Seed;
use autocomp_cuda::inside::Program;
use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::Launch;
use std::time::Instant;

/// Words of a buffer.
const WORDS: u64 = 256;

/// A fault: its name, what the kernel does, how long it may take in seconds, and what is to be
/// told of it.
const FAULTS: &[(&str, &str, u64, &str)] = &[
    (
        "far outside",
        "mov.u64 %d1, 70368744177664; add.u64 %d1, %d1, %y; st.global.u32 [%d1], %t;",
        30,
        "device-illegal-address",
    ),
    (
        "right behind a buffer",
        "add.u64 %d1, %y, %t4; st.global.u32 [%d1+1024], %t;",
        30,
        "device-out-of-bounds",
    ),
    (
        "misaligned",
        "add.u64 %d1, %y, %t4; st.global.u32 [%d1+2], %t;",
        30,
        "device-misaligned",
    ),
    ("a trap", "trap;", 30, "device-fault"),
    (
        "no such instruction",
        "add.u32 %r1, %r2;",
        30,
        "device-build",
    ),
    (
        "endless",
        "again: ld.volatile.global.u32 %r1, [%x]; setp.ne.u32 %p1, %r1, 3735928559; @%p1 bra again;",
        8,
        "late",
    ),
];

fn program(body: &str) -> Program {
    let arguments = [buffer_address(0), buffer_address(1)];
    Program::of_launches(
        crate::small::kernel_of(body),
        vec![Launch {
            kernel: "k".into(),
            grid: [1; 3],
            block: [256, 1, 1],
            dynamic_shared: 0,
            allowed_shared: 0,
            arguments: arguments.iter().flat_map(|it| it.to_le_bytes()).collect(),
        }],
    )
}

/// `faults`: what comes of each, how long that took, and whether the next worker is right.
pub fn faults(place: &Place) -> Result<(), String> {
    place.told()?;
    let problem = two_buffers(WORDS);
    let sets = &problem.input_sets[0];
    // Words are copied: that is what the right kernel does, and faulty ones begin with.
    let copy = "add.u64 %d8, %x, %t4; add.u64 %d9, %y, %t4; ld.global.u32 %r8, [%d8]; st.global.u32 [%d9], %r8;";
    let mut case = autocomp_eval::inputs::Case::draw(&problem, sets, Seed(3));
    case.after[1] = case.before[0].clone();
    let right = program(copy);
    for (name, body, seconds, wanted) in FAULTS {
        let faulty = program(&format!("{copy}\n{body}"));
        let attempt = |program: &Program, seconds: u64| {
            let began = Instant::now();
            let answer = place.work(seconds, &problem, |session| {
                let program: &'static Program = Box::leak(Box::new(program.clone()));
                let case: &'static _ = Box::leak(Box::new(case.clone()));
                let mut loaded = session.load(program)?;
                let uploaded = session.upload(case, Seed(4))?;
                session.test(&mut loaded, &uploaded)?;
                Ok("ok".into())
            });
            (answer, began.elapsed().as_secs_f64())
        };
        let (answer, took) = attempt(&faulty, *seconds);
        let (next, next_took) = attempt(&right, 60);
        let is_found = answer.contains(wanted) && next == "ok";
        println!(
            "{name}\t{}\t{wanted}\t{answer}\t{took:.2}\t{next}\t{next_took:.2}",
            if is_found { "found" } else { "MISSED" }
        );
    }
    Ok(())
}

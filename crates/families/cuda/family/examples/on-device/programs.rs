//! Random programs in PTX, and functions of the special unit, on interpreter and device.

use crate::second::program;
use crate::small::{kernel_of, run};
use crate::{Place, two_buffers};
use autocomp_core::Seed;
use autocomp_cuda::inside::Program;
use autocomp_cuda_sim::decode::buffer_address;
use autocomp_cuda_sim::machine::{Launch, Order};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Programs that the driver compiles at once.
const BATCH: u64 = 32;
/// Words of a program's inputs, and of its outputs.
const WORDS: usize = 256;

pub fn launch(kernel: String, blocks: u32, offset: u64) -> Launch {
    let addresses = [buffer_address(0) + offset, buffer_address(1) + offset];
    Launch {
        kernel,
        grid: [blocks, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        allowed_shared: 0,
        arguments: addresses.iter().flat_map(|it| it.to_le_bytes()).collect(),
    }
}

fn bytes(words: &[[u32; 8]]) -> Vec<u8> {
    words
        .iter()
        .flatten()
        .flat_map(|it| it.to_le_bytes())
        .collect()
}

/// Programs that are compiled at once, and what comes of them.
struct Batch {
    program: Program,
    /// What they begin with.
    x: Vec<u8>,
    /// What the interpreter makes of each.
    rights: Vec<Vec<u8>>,
    /// What the second one makes of each.
    seconds: Vec<Vec<u8>>,
}

impl Batch {
    fn of(seeds: std::ops::Range<u64>) -> Self {
        let mut ptx = String::new();
        let (mut x, mut rights, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        let mut requests = Vec::new();
        for (number, seed) in seeds.enumerate() {
            let (body, before, after) = program(seed);
            let whole = kernel_of(&body);
            let before = bytes(&before);
            let right = run(&whole, (1, 32), &before, 4 * WORDS, Order::Forward);
            rights.push(right.unwrap_or_default());
            seconds.push(bytes(&after));
            x.extend(before);
            let whole = whole.replace(".entry k(", &format!(".entry k{number}("));
            let from = match number {
                0 => 0,
                _ => whole.find(".visible").unwrap_or(0),
            };
            ptx += &whole[from..];
            let offset = 4 * (number * WORDS) as u64;
            requests.push(launch(format!("k{number}"), 1, offset));
        }
        Self {
            program: Program::of_launches(ptx, requests),
            x,
            rights,
            seconds,
        }
    }
}

/// `text FIRST_SEED`: writes a batch of programs, for whoever has a compiler for them.
pub fn text(place: &Place) -> Result<(), String> {
    let first = place.number(0);
    print!("{}", Batch::of(first..first + BATCH).program.texts().0);
    Ok(())
}

/// `programs SECONDS FIRST_SEED STEP`: compares batches of programs until the time is over; the
/// seeds of the batches are `STEP` batches apart.
pub fn compare(place: &Place) -> Result<(), String> {
    place.told()?;
    let (seconds, first, step) = (place.number(0), place.number(1), place.number(2));
    let end = Instant::now() + Duration::from_secs(seconds);
    let problem = two_buffers(BATCH * WORDS as u64);
    let (mut count, mut different) = (0, 0);
    let mut told_of = Vec::new();
    let mut batch = 0;
    // A fresh worker now and then, so that modules do not pile up.
    while Instant::now() < end {
        let answer = place.work(seconds + 20, &problem, |session| {
            let mut text = String::new();
            for _ in 0..32 {
                if end <= Instant::now() {
                    break;
                }
                let seeds = (first + batch * step) * BATCH..(first + batch * step + 1) * BATCH;
                batch += 1;
                let Batch {
                    program,
                    x,
                    rights,
                    seconds,
                } = Batch::of(seeds.clone());
                // The program lives as long as its session: workers are short-lived.
                let program: &'static Program = Box::leak(Box::new(program));
                let contents = [x, vec![0; 4 * WORDS * BATCH as usize]];
                let mut loaded = session.load(program)?;
                let left = session.run(&mut loaded, &contents)?;
                for ((seed, got), (right, second)) in seeds
                    .zip(left[1].chunks(4 * WORDS))
                    .zip(rights.iter().zip(&seconds))
                {
                    let at = got.chunks(32).zip(right.chunks(32)).position(|(a, b)| a != b);
                    if at.is_some() || right.len() != got.len() {
                        let at = 32 * at.unwrap_or(0);
                        let of = |it: &[u8]| {
                            let words = it.get(at..at + 32).unwrap_or_default().chunks(4);
                            words
                                .map(|it| it.iter().rev().map(|it| format!("{it:02x}")).collect())
                                .collect::<Vec<String>>()
                                .join(" ")
                        };
                        let _ = writeln!(
                            text,
                            "different\tseed {seed}\tthread {}\tdevice {}\tinterpreter {}\tsecond interpreter {}",
                            at / 32,
                            of(got),
                            of(right),
                            of(second)
                        );
                    }
                }
                let _ = writeln!(text, "batch");
            }
            Ok(text)
        });
        let done = answer.lines().filter(|line| *line == "batch").count() as u64;
        // What a worker counted stays with it.
        batch += 32;
        count += done * BATCH;
        let lines: Vec<&str> = answer.lines().filter(|line| *line != "batch").collect();
        different += lines
            .iter()
            .filter(|it| it.starts_with("different"))
            .count();
        told_of.extend(lines.into_iter().map(str::to_owned));
        if done == 0 {
            break;
        }
    }
    println!("programs\t{count}\tdifferent\t{different}");
    for line in told_of.iter().take(40) {
        println!("{line}");
    }
    Ok(())
}

/// How the error of a function is measured.
#[derive(Clone, Copy)]
enum Error {
    Absolute,
    Relative,
    Ulps,
}

/// A function of the special unit: its name, PTX with `%f1` for what is given and `%f2` for the
/// result, range of what is given, documented error, and the right answer.
type Special = (
    &'static str,
    &'static str,
    (f64, f64),
    (Error, f64),
    fn(f64) -> f64,
);

/// The errors that the vendor documents in the description of PTX.
const SPECIAL: &[Special] = &[
    (
        "ex2.approx.f32",
        "ex2.approx.f32 %f2, %f1;",
        (-120.0, 120.0),
        (Error::Ulps, 2.0),
        f64::exp2,
    ),
    (
        "lg2.approx.f32, near one",
        "lg2.approx.f32 %f2, %f1;",
        (0.5, 2.0),
        (Error::Absolute, 2.384_185_791_015_625e-7),
        f64::log2,
    ),
    (
        "lg2.approx.f32",
        "lg2.approx.f32 %f2, %f1;",
        (2.0, 1e9),
        (Error::Relative, 2.384_185_791_015_625e-7),
        f64::log2,
    ),
    (
        "sin.approx.f32",
        "sin.approx.f32 %f2, %f1;",
        (-3.0, 3.0),
        (Error::Absolute, 6.8e-7),
        f64::sin,
    ),
    (
        "cos.approx.f32",
        "cos.approx.f32 %f2, %f1;",
        (-3.0, 3.0),
        (Error::Absolute, 6.8e-7),
        f64::cos,
    ),
    (
        "rcp.approx.f32",
        "rcp.approx.f32 %f2, %f1;",
        (1e-6, 1e6),
        (Error::Ulps, 1.0),
        f64::recip,
    ),
    (
        "sqrt.approx.f32",
        "sqrt.approx.f32 %f2, %f1;",
        (1e-6, 1e6),
        (Error::Relative, 1.2e-7),
        f64::sqrt,
    ),
    (
        "rsqrt.approx.f32",
        "rsqrt.approx.f32 %f2, %f1;",
        (1e-6, 1e6),
        (Error::Relative, 1.82e-7),
        |x| x.sqrt().recip(),
    ),
    (
        "tanh.approx.f32",
        "tanh.approx.f32 %f2, %f1;",
        (-8.0, 8.0),
        (Error::Relative, 4.9e-4),
        f64::tanh,
    ),
    (
        "div.full.f32 of 3",
        "mov.f32 %f3, 0f40400000; div.full.f32 %f2, %f3, %f1;",
        (1e-6, 1e6),
        (Error::Ulps, 2.0),
        |x| 3.0 / x,
    ),
    (
        "div.approx.f32 of 3",
        "mov.f32 %f3, 0f40400000; div.approx.f32 %f2, %f3, %f1;",
        (1e-6, 1e6),
        (Error::Ulps, 2.0),
        |x| 3.0 / x,
    ),
    (
        "sqrt.rn.f32",
        "sqrt.rn.f32 %f2, %f1;",
        (1e-6, 1e6),
        (Error::Ulps, 0.5),
        f64::sqrt,
    ),
    (
        "div.rn.f32 of 3",
        "mov.f32 %f3, 0f40400000; div.rn.f32 %f2, %f3, %f1;",
        (1e-6, 1e6),
        (Error::Ulps, 0.5),
        |x| 3.0 / x,
    ),
    (
        "fma.rn.f32",
        "mov.f32 %f3, 0f3f9d70a4; fma.rn.f32 %f2, %f1, %f3, %f1;",
        (-1e6, 1e6),
        (Error::Ulps, 0.5),
        |x| f64::from(1.23_f32).mul_add(x, x),
    ),
];

fn error(how: Error, got: f32, right: f64) -> f64 {
    let distance = (f64::from(got) - right).abs();
    match how {
        Error::Absolute => distance,
        Error::Relative => distance / right.abs().max(1e-300),
        Error::Ulps => {
            let near = right as f32;
            let next = f32::from_bits(near.to_bits() + 1);
            distance / f64::from((next - near).abs()).max(1e-300)
        }
    }
}

/// `special`: the greatest error of functions on device and interpreter.
pub fn special(place: &Place) -> Result<(), String> {
    const COUNT: usize = 1 << 14;
    place.told()?;
    let problem = two_buffers(COUNT as u64);
    let mut seed = Seed(11);
    for (name, text, (low, high), (how, documented), right) in SPECIAL {
        let body = format!(
            " mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 32, %t; mul.wide.u32 %t4, %r1, 4;
 add.u64 %d1, %x, %t4; add.u64 %d2, %y, %t4;
 ld.global.f32 %f1, [%d1];
 {text}
 st.global.f32 [%d2], %f2;"
        );
        let ptx = kernel_of(&body);
        let inputs: Vec<f32> = (0..COUNT)
            .map(|_| {
                let share = seed.next_u64() as f64 / u64::MAX as f64;
                if 0.0 < *low && 100.0 < high / low {
                    (low.ln() + share * (high / low).ln()).exp() as f32
                } else {
                    (low + share * (high - low)) as f32
                }
            })
            .collect();
        let x: Vec<u8> = inputs.iter().flat_map(|it| it.to_le_bytes()).collect();
        let blocks = COUNT as u32 / 32;
        let worst = |content: &[u8]| {
            let got = content
                .chunks_exact(4)
                .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]));
            inputs
                .iter()
                .zip(got)
                .map(|(x, got)| error(*how, got, right(f64::from(*x))))
                .fold(0.0, f64::max)
        };
        let simulated = run(&ptx, (blocks, 32), &x, 4 * COUNT, Order::Forward);
        let simulated = simulated.map_err(|finding| format!("{name}: {finding:?}"))?;
        let program = Program::of_launches(ptx, vec![launch("k".into(), blocks, 0)]);
        let contents = [x.clone(), vec![0; 4 * COUNT]];
        let answer = place.work(60, &problem, |session| {
            let program: &'static Program = Box::leak(Box::new(program.clone()));
            let mut loaded = session.load(program)?;
            let left = session.run(&mut loaded, &contents)?;
            let same = left[1]
                .chunks(4)
                .zip(simulated.chunks(4))
                .filter(|(a, b)| a == b)
                .count();
            let on_device = worst(&left[1]);
            let is_within = on_device <= *documented * 1.001;
            Ok(format!(
                "{on_device:.3e}\t{:.3e}\t{documented:.3e}\t{}\t{:.2}",
                worst(&simulated),
                if is_within { "within" } else { "BEYOND" },
                100.0 * same as f64 / COUNT as f64
            ))
        });
        println!("{name}\t{answer}");
    }
    Ok(())
}

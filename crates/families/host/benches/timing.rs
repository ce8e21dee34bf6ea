//! Whether timing finds a difference of 3 %, and none where there is none.
//!
//! `cargo bench -p autocomp-host --bench timing -- TRIES [HALF_WIDTH_PERCENT]`
//! compares a kernel with itself, built twice, and with one that does 3 % more
//! work, as often as asked for (100 times), with the effort that a kernel gets
//! before it is told to be the best. Load the machine to see what that changes.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use autocomp_catalog::Catalog;
use autocomp_core::Seed;
use autocomp_eval::Surroundings;
use autocomp_host::bench::{HostBench, Right, Settings, Tested};
use autocomp_host::detection::Processor;
use autocomp_measuring::Effort;
use autocomp_measuring::statistics::{Difference, difference, median};
use autocomp_toolchain::find_toolchain;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Rows of the product; the slower kernel computes the first 6 again.
const PROBLEM: &str = r#"
target = "host-x86-64-avx2"
description = "A product of 200x256 and 256x256 matrices"
entry = "solution"
signature = "void solution(float A[200][256], float B[256][256], float C[200][256])"
tolerance = { kind = "close", relative = 0.0, absolute = 1e-4 }
work = { macs = 13107200, bytes = 671744 }
buffer = [
  { name = "A", dtype = "float32", shape = [200, 256], role = "input" },
  { name = "B", dtype = "float32", shape = [256, 256], role = "input" },
  { name = "C", dtype = "float32", shape = [200, 256], role = "output" },
]
[[input_set]]
name = "real"
fill.A = { kind = "real", low = -1.0, high = 1.0 }
fill.B = { kind = "real", low = -1.0, high = 1.0 }
"#;

fn kernel(extra_rows: u32) -> String {
    let rows = 200 + extra_rows;
    format!(
        "void solution(float A[restrict 200][256], float B[restrict 256][256], float C[restrict 200][256]) {{
  for (int row = 0; row < {rows}; row++) {{
    int i = row < 200 ? row : row - 200;
    for (int j = 0; j < 256; j++) C[i][j] = 0.0f;
    for (int k = 0; k < 256; k++)
      for (int j = 0; j < 256; j++) C[i][j] += A[i][k] * B[k][j];
  }}
}}
"
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<f64> = std::env::args()
        .filter_map(|text| text.parse().ok())
        .collect();
    let tries = numbers.first().map_or(100, |tries| *tries as usize);
    let half_width = numbers
        .get(1)
        .map_or(Effort::default().half_width, |percent| percent / 100.0);
    let cache_folder = std::env::var_os("AUTOCOMP_CACHE_DIR")
        .map_or_else(|| std::env::temp_dir().join("autocomp-host"), PathBuf::from);
    let search = Surroundings::installing(cache_folder.clone(), std::env::var_os("PATH"));
    let folder = tempfile::tempdir()?;
    let problem = folder.path().join("problems/own/timing");
    std::fs::create_dir_all(&problem)?;
    std::fs::write(problem.join("problem.toml"), PROBLEM)?;
    std::fs::write(problem.join("reference.c"), kernel(0))?;
    std::fs::write(problem.join("baseline.c"), kernel(0))?;
    let mut catalog = Catalog::built_in()?;
    catalog.add_folder(folder.path())?;
    let name = Processor::detect()
        .target()
        .ok_or("no target for this processor")?;
    let settings = Settings {
        toolchain: find_toolchain(&search, &mut |line| println!("{line}"))?,
        cache_folder,
        effort: Effort::default(),
        command_time: Duration::from_secs(60),
        evaluation_time: Duration::from_secs(600),
        seed: Seed(1),
        timed_seed: Seed(2),
    };
    let bench = HostBench::open(
        catalog.problem("own/timing")?,
        &catalog.target(name)?,
        "this",
        settings,
    )?;
    let effort = Effort {
        wall: Duration::from_secs(60),
        half_width,
        ..Effort::default().confirming()
    };
    println!("load {}", std::fs::read_to_string("/proc/loadavg")?.trim());
    for (what, extra_rows, wanted) in [
        ("itself", 0, Difference::None),
        ("3 % more work", 6, Difference::Slower),
    ] {
        let base_source = kernel(0);
        let source = kernel(extra_rows);
        let base = bench
            .build(&base_source)?
            .map_err(|found| found[0].message.clone())?;
        let program = bench
            .build(&source)?
            .map_err(|found| found[0].message.clone())?;
        let Tested::Right(Right { call_ns, .. }) = bench.test(&program, &source)? else {
            return Err("the kernel is not right".into());
        };
        let (mut as_wanted, mut medians, mut widths, mut rounds) = (0, Vec::new(), Vec::new(), 0);
        let began = Instant::now();
        for _ in 0..tries {
            let paired = bench.compare((&program, call_ns), (&base, call_ns), effort)?;
            if difference(&paired.interval, 0.005) == wanted {
                as_wanted += 1;
            }
            medians.push(paired.interval.median);
            widths.push(paired.interval.half_width());
            rounds += paired.ratios.len();
        }
        medians.sort_by(f64::total_cmp);
        println!(
            "{what}: {as_wanted} of {tries} come out as {wanted:?}; ratios {:.4} to {:.4}, median {:.4}; \
             half width {:.2} %; {:.1} rounds and {:.2} s each",
            medians[0],
            medians[medians.len() - 1],
            median(&medians),
            100.0 * median(&widths),
            rounds as f64 / tries as f64,
            began.elapsed().as_secs_f64() / tries as f64,
        );
    }
    println!("load {}", std::fs::read_to_string("/proc/loadavg")?.trim());
    Ok(())
}

//! A kernel for a matrix product beside OpenBLAS on one thread.
//!
//! `OPENBLAS_NUM_THREADS=1 cargo bench -p autocomp-host --bench library -- PROBLEM KERNEL LIBRARY`
//! with a problem such as `host/gemm-f32-512x512x512`, the file of a kernel and
//! the shared library, for instance that of the wheel `scipy-openblas64`.
//! The library runs in this process and is trusted; like kernels it gets new
//! inputs that the same core has just written, and the fastest of six calls
//! behind one to warm up counts.
#![allow(clippy::print_stdout, reason = "it prints what it finds")]

use autocomp_catalog::{Catalog, Problem};
use autocomp_core::Seed;
use autocomp_eval::Surroundings;
use autocomp_host::bench::{HostBench, Settings, Tested};
use autocomp_host::detection::Processor;
use autocomp_host::pairs::Effort;
use autocomp_host::statistics::{median, median_interval};
use autocomp_toolchain::find_toolchain;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::time::Duration;

/// Rounds of both.
const ROUNDS: usize = 15;
/// Calls of the library in a round, the fastest of which counts.
const CALLS: usize = 6;

type Gemm = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i64,
    i64,
    i64,
    f32,
    *const f32,
    i64,
    *const f32,
    i64,
    f32,
    *mut f32,
    i64,
);

/// A product by the library.
struct Library {
    gemm: Gemm,
    /// Whether its numbers of rows and columns have 64 bits.
    core: String,
}

impl Library {
    fn open(path: &str) -> Result<Self, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        // SAFETY: the user named a library and wants it to run.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            return Err("the library cannot be loaded".into());
        }
        let symbol = |names: [&CStr; 2]| {
            let found = names.map(|name| unsafe { libc::dlsym(handle, name.as_ptr()) });
            found.into_iter().find(|found| !found.is_null())
        };
        // On little-endian machines numbers of 64 bits pass for those of 32 in registers.
        let gemm =
            symbol([c"scipy_cblas_sgemm64_", c"cblas_sgemm"]).ok_or("it has no cblas_sgemm")?;
        let core = symbol([c"scipy_openblas_get_corename64_", c"openblas_get_corename"]);
        let core = core.map_or_else(String::new, |name| {
            // SAFETY: the function takes nothing and gives a text that stays.
            unsafe {
                let name: unsafe extern "C" fn() -> *const c_char =
                    std::mem::transmute::<*mut c_void, _>(name);
                CStr::from_ptr(name()).to_string_lossy().into_owned()
            }
        });
        Ok(Self {
            // SAFETY: that is the type of the function of this name.
            gemm: unsafe { std::mem::transmute::<*mut c_void, Gemm>(gemm) },
            core,
        })
    }

    /// Returns the processor time of the fastest of a few calls, nanoseconds.
    fn time(&self, problem: &Problem, seed: Seed) -> f64 {
        let [m, k] = [0, 1].map(|dimension| problem.buffers[0].shape[dimension] as i64);
        let n = problem.buffers[1].shape[1] as i64;
        let set = &problem.input_sets[0];
        let mut c = vec![0.0_f32; (m * n) as usize];
        let mut least = f64::INFINITY;
        for call in 0..=CALLS {
            let [a, b] = [0, 1].map(|idx| {
                let bytes = set.draw(&problem.buffers[idx], seed.derive(&call.to_string()));
                let bytes = bytes.unwrap_or_default();
                let floats = bytes.chunks_exact(4);
                floats
                    .map(|it| f32::from_le_bytes([it[0], it[1], it[2], it[3]]))
                    .collect::<Vec<f32>>()
            });
            let before = thread_ns();
            // SAFETY: row-major matrices of these sizes.
            unsafe {
                (self.gemm)(
                    101,
                    111,
                    111,
                    m,
                    n,
                    k,
                    1.0,
                    a.as_ptr(),
                    k,
                    b.as_ptr(),
                    n,
                    0.0,
                    c.as_mut_ptr(),
                    n,
                );
            }
            if 0 < call {
                least = least.min(thread_ns() - before);
            }
        }
        least
    }
}

fn thread_ns() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let [name, kernel, library] = arguments.as_slice() else {
        println!(
            "give a problem, the file of a kernel and a shared library; see the benchmark's head"
        );
        return Ok(());
    };
    let cache_folder = std::env::var_os("AUTOCOMP_CACHE_DIR")
        .map_or_else(|| std::env::temp_dir().join("autocomp-host"), PathBuf::from);
    let search = Surroundings {
        compiler: None,
        carried: None,
        recorded_compiler: None,
        path: std::env::var_os("PATH"),
        cache_folder: cache_folder.clone(),
        install: true,
    };
    let catalog = Catalog::built_in()?;
    let target = Processor::detect()
        .target()
        .ok_or("no target for this processor")?;
    let settings = Settings {
        toolchain: find_toolchain(&search, &mut |line| println!("{line}"))?,
        cache_folder,
        effort: Effort::default(),
        command_time: Duration::from_secs(60),
        seed: Seed(1),
        timed_seed: Seed(2),
    };
    let bench = HostBench::open(
        catalog.problem(name)?,
        &catalog.target(target)?,
        "this",
        settings,
    )?;
    let library = Library::open(library)?;
    let source = std::fs::read_to_string(kernel)?;
    let program = bench
        .build(&source)?
        .map_err(|found| found[0].message.clone())?;
    let Tested::Right { call_ns } = bench.test(&program, &source)? else {
        return Err("the kernel is not right".into());
    };
    let effort = Effort {
        least_rounds: 3,
        most_rounds: 3,
        ..Effort::default()
    };
    let (mut own, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let other = library.time(bench.problem(), Seed(round as u64));
        let paired = bench.compare((&program, call_ns), (&program, call_ns), effort)?;
        let time = median(&[paired.candidate_ns, paired.base_ns].concat());
        ratios.push(other / time);
        own.push(time);
        others.push(other);
    }
    let macs = bench.problem().work.macs as f64;
    let peak = bench.peaks().float_macs_per_ns;
    for (name, times) in [("kernel", &own), (library.core.as_str(), &others)] {
        let rate = macs / median(times);
        println!(
            "{name}: {:.0} ns, {rate:.1} steps per ns, {:.1} % of the measured peak {peak:.1}",
            median(times),
            100.0 * rate / peak
        );
    }
    println!(
        "speed of the kernel by that of the library: {:?}",
        median_interval(&ratios, 0.99)
    );
    Ok(())
}

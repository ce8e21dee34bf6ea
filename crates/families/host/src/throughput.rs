//! Static analysis of a loop by `llvm-mca`, where it is installed.

use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the analysis says.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Throughput {
    /// Who says it.
    pub analyst: String,
    /// Cycles of one iteration if all units are in use as evenly as possible.
    pub block: f64,
    /// Cycles of one iteration with the dependences between iterations.
    pub cycles: f64,
}

/// Iterations that are analysed.
const ITERATIONS: f64 = 100.0;

/// Returns where `llvm-mca` is: on the search path, under a plain or a
/// versioned name.
#[must_use]
pub fn find_analyst(path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(path?).collect();
    let names = std::iter::once("llvm-mca".to_owned())
        .chain((14..=23).rev().map(|version| format!("llvm-mca-{version}")));
    let mut places = names.flat_map(|name| folders.iter().map(move |folder| folder.join(&name)));
    places.find(|place| place.is_absolute() && place.is_file())
}

/// Analyses the instructions of a loop. Nothing comes of it if the tool does
/// not know the processor or an instruction.
#[must_use]
pub fn analyse(analyst: &Path, text: &str, architecture: &str) -> Option<Throughput> {
    let triple = format!("-mtriple={architecture}-unknown-linux-gnu");
    let iterations = format!("-iterations={ITERATIONS}");
    let real = std::fs::canonicalize(analyst).ok()?;
    let system = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
    ]
    .map(PathBuf::from);
    let policy = SandboxPolicy {
        working_folder: "/".into(),
        readable: vec!["/proc/cpuinfo".into()],
        executable: system
            .into_iter()
            .chain([analyst.to_owned(), real])
            .collect(),
        writable: Vec::new(),
        environment: vec![("LC_ALL".into(), "C".into())],
        limits: Limits {
            wall: Duration::from_secs(20),
            cpu_seconds: 10,
            address_space_bytes: 4 << 30,
            file_bytes: 0,
            output_bytes: 64 << 10,
            open_files: 64,
            processes: ProcessRule::Single,
        },
    };
    let arguments = [
        triple.as_str(),
        &iterations,
        "-instruction-info=false",
        "-resource-pressure=false",
    ];
    let report = autocomp_sandbox::run(&policy, analyst, &arguments, text.as_bytes()).ok()?;
    if !report.succeeded() {
        return None;
    }
    read(&report.stdout.text(), analyst)
}

/// Reads what llvm-mca printed; nothing if figures are missing.
pub fn read(output: &str, analyst: &Path) -> Option<Throughput> {
    let value = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').trim().parse::<f64>().ok()
    };
    Some(Throughput {
        analyst: analyst.file_name()?.to_string_lossy().into_owned(),
        block: value("Block RThroughput")?,
        cycles: value("Total Cycles")? / ITERATIONS,
    })
}

//! Kernels that a library computes: what a user would pick, to compare with.
//!
//! Such a kernel is one of the problem's own files, whose first line names the
//! library (`// library: libopenblas.so.0`). Nobody else's kernel may load one.
//! It is not built into this program and need not be installed.

use autocomp_catalog::Problem;
use autocomp_core::{Diagnostic, Severity, Stage};
use std::path::{Path, PathBuf};

const MARK: &str = "// library: ";
/// Folders of libraries that are not on the loader's own list everywhere.
const FOLDERS: [&str; 8] = [
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
    "/opt/OpenBLAS/lib",
];

/// Returns the file name of the library that computes `source`, if it is one of
/// the problem's own kernels.
pub fn wanted<'s>(source: &'s str, problem: &Problem) -> Option<&'s str> {
    let name = source.lines().next()?.strip_prefix(MARK)?.trim();
    let is_own = problem.kernels.values().any(|own| own == source);
    (is_own && !name.contains('/')).then_some(name)
}

/// Returns where a library is.
///
/// # Errors
/// What is told to who wants it.
pub fn find(name: &str) -> Result<PathBuf, Box<Diagnostic>> {
    let mut places = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
    places.find(|place| place.is_file()).ok_or_else(|| {
        Box::new(Diagnostic {
            stage: Stage::Build,
            severity: Severity::Error,
            code: "library-not-installed".into(),
            message: format!("{name} is not installed"),
            location: None,
            notes: vec![format!("looked for in {}", FOLDERS.join(", "))],
            remedy: Some(
                "install it (OpenBLAS on Debian, Ubuntu: apt-get install libopenblas0) or compare without".into(),
            ),
        })
    })
}

/// Folders that a program reads that is linked to libraries of the system.
pub fn folders() -> Vec<PathBuf> {
    let system = [
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/proc/cpuinfo",
        "/sys/devices/system/cpu",
        "/etc/alternatives",
    ];
    FOLDERS
        .iter()
        .chain(&system)
        .map(PathBuf::from)
        .filter(|it| it.exists())
        .collect()
}

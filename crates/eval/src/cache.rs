//! The cache folder as a whole: what it holds, and making room in it.

use crate::file_store::{CachePart, Extent, evict, unwritable};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Parts that hold folders: installed compilers, compiled runtimes, and places
/// in which builds work.
const COMPILERS: &str = "toolchains";
const OTHERS: [&str; 2] = ["runtimes", "scratch"];

/// The folder of the locks of devices.
pub const LEASES: &str = "leases";

/// Folders that hold nothing of a kernel or problem: tools, and locks of devices.
pub const NEUTRAL: [&str; 2] = [COMPILERS, LEASES];

/// How the names of folders begin that are not called by a hash: compilers, and
/// folders that are worked in.
const OUR_FOLDERS: [&str; 3] = ["ziglang-", "installing-", ".tmp"];

/// From this age on nobody works in a working folder any more: nothing that is
/// built or installed takes that long.
pub const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// The same where folders are in use as long as a bench is open.
const BENCH_LEFTOVER_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What one part of a cache folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// Its folder's name.
    pub name: &'static str,
    /// What there is.
    pub extent: Extent,
    /// About how many bytes there may be; absent for what does not grow.
    pub most_bytes: Option<u64>,
}

/// What to remove from a cache folder.
#[derive(Clone, Copy, Debug)]
pub struct Pruning<'a> {
    /// What was not used for so long.
    pub unused_for: Duration,
    /// Names of the compilers that stay, as folders.
    pub compilers: &'a [String],
}

/// Returns what a cache folder holds, part by part. What cannot be read is not
/// counted.
#[must_use]
pub fn look(cache_folder: &Path) -> Vec<PartUse> {
    let bounded = CachePart::ALL.map(|part| (part.name(), Some(part.most_bytes())));
    let others = [COMPILERS].into_iter().chain(OTHERS);
    let parts = others.map(|name| (name, None)).chain(bounded);
    parts
        .map(|(name, most_bytes)| PartUse {
            name,
            extent: extent(&cache_folder.join(name)),
            most_bytes,
        })
        .collect()
}

/// Removes from a cache folder what was not used for some time, what processes
/// left behind that were killed, and compilers that are not named. Whoever uses
/// the folder at the same time makes again what is needed.
pub fn prune(cache_folder: &Path, pruning: &Pruning<'_>) {
    let now = SystemTime::now();
    let before = |age: Duration| now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    for part in CachePart::ALL {
        let folder = cache_folder.join(part.name());
        evict(&folder, part.most_bytes(), Some(before(pruning.unused_for)));
    }
    for name in OTHERS {
        let age = match name {
            "scratch" => LEFTOVER_AGE,
            _ => pruning.unused_for,
        };
        remove_older(&cache_folder.join(name), before(age), &[]);
    }
    let compilers = cache_folder.join(COMPILERS);
    remove_older(&compilers, before(LEFTOVER_AGE), pruning.compilers);
}

/// Makes the folder `name` of a cache folder, in which processes work as long as they have a bench
/// open. What was left there by those that were killed is removed after some days.
///
/// # Errors
/// [`EvalError::Environment`](crate::EvalError::Environment) if it cannot be made.
pub fn working_folder(cache_folder: &Path, name: &str) -> Result<PathBuf, crate::EvalError> {
    let folder = cache_folder.join(name);
    let made = fs::create_dir_all(&folder).and_then(|()| fs::canonicalize(&folder));
    let folder = made.map_err(|error| unwritable(&folder, &error))?;
    if let Some(before) = SystemTime::now().checked_sub(BENCH_LEFTOVER_AGE) {
        remove_older(&folder, before, &[]);
    }
    Ok(folder)
}

/// Removes folders in `folder` that were made before `before`, but for `kept`
/// and those whose name is none that autocomp gives.
pub fn remove_older(folder: &Path, before: SystemTime, kept: &[String]) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_ours = OUR_FOLDERS.iter().any(|start| name.starts_with(start)) || is_hex(&name, 12);
        let made = entry.metadata().and_then(|meta| meta.modified());
        if is_ours && !kept.contains(&name) && made.is_ok_and(|made| made < before) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns whether a name consists of so many hexadecimal digits.
pub(crate) fn is_hex(name: &str, digits: usize) -> bool {
    name.len() == digits && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn extent(folder: &Path) -> Extent {
    let mut extent = Extent::default();
    walk(folder, &mut |_, meta| extent.add(meta.len()));
    extent
}

/// Visits all files below a folder; what cannot be read is left out.
pub(crate) fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, &Metadata)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Of a link itself, so that nothing outside is visited.
        match entry.metadata() {
            Ok(meta) if meta.is_dir() => walk(&entry.path(), visit),
            Ok(meta) => visit(&entry.path(), &meta),
            Err(_) => {}
        }
    }
}

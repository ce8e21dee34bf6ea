//! What every program is linked with.

use autocomp_catalog::Target;
use std::collections::BTreeMap;

/// What every kernel sees whose target brings no header of its own.
pub const HEADER: &str = "kernel.h";

/// Start code, linker script, the functions that compilers call on their own, a console
/// that discards what it is given, and types. [`Image`](crate::Image) accepts what this script makes.
const FILES: [(&str, &[u8]); 5] = [
    ("console.c", include_bytes!("../runtime/console.c")),
    (HEADER, include_bytes!("../runtime/kernel.h")),
    ("link.ld", include_bytes!("../runtime/link.ld")),
    ("runtime.c", include_bytes!("../runtime/runtime.c")),
    ("start.S", include_bytes!("../runtime/start.S")),
];

/// Returns names and contents of the files that kernels of `target` are built with: these,
/// and the target's own, of which one stands in place of that with its name here.
pub fn files(target: &Target) -> BTreeMap<&str, &[u8]> {
    let own = target.runtime.iter();
    let own = own.map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    FILES.into_iter().chain(own).collect()
}

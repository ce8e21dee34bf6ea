//! Places in the statement tree of a kernel for the accelerator.

use crate::kernel::Command;
pub use autocomp_c_loops::tree::*;

/// A command with what encloses it.
pub type Site<'kernel> = autocomp_c_loops::tree::Site<'kernel, Command>;

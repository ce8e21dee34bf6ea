//! The exit codes of `autocomp`, documented here and in the README.

/// Everything asked for was done.
pub const SUCCESS: u8 = 0;
/// The work was done and the answer is no: a kernel that is not ok, a doctor that found a problem.
pub const NEGATIVE: u8 = 1;
/// The command line is wrong: unknown command, option, problem, target or run.
pub const USAGE: u8 = 2;
/// A file given is unusable: invalid TOML, unreadable kernel, corrupt run folder, wrong baseline.
pub const INPUT: u8 = 3;
/// The machine does not allow it: no compiler, disk full, read-only folder, run in use.
pub const ENVIRONMENT: u8 = 4;
/// autocomp contradicts itself; please report it.
pub const INTERNAL: u8 = 5;
/// Interrupted by Ctrl-C, a termination signal or the end of the terminal; the run can be resumed.
pub const INTERRUPTED: u8 = 130;

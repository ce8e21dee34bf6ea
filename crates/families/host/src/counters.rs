//! Counts of events in the processor while a kernel runs, where the operating
//! system lets a parent have them (`perf_event_open`). They are told as
//! feedback and decide nothing: no verdict, and no cost.

#[cfg(target_os = "linux")]
#[path = "counters/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "counters/other.rs"]
mod system;

pub use system::counter;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// What is counted, by the kernel's numbers of general hardware events
/// (`linux/perf_event.h`).
const EVENTS: [(&str, u64); 5] = [
    ("cycles", 0),
    ("instructions", 1),
    ("cache_references", 2),
    ("cache_misses", 3),
    ("branch_misses", 5),
];
const TYPE_HARDWARE: u32 = 0;
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;

/// Counters of one process.
#[derive(Debug)]
pub struct Counters {
    /// Names and open counters.
    pub open: Vec<(&'static str, OwnedFd)>,
}

impl Counters {
    /// Opens as many counters of a process as there are; they stand still.
    ///
    /// # Errors
    /// Why there is not a single one, in a sentence for people.
    pub fn of(process: i32) -> Result<Self, String> {
        let (mut open, mut first) = (Vec::new(), None);
        for (name, event) in EVENTS {
            match counter(process, TYPE_HARDWARE, event) {
                Ok(counter) => open.push((name, counter)),
                Err(error) => first = first.or(Some(error)),
            }
        }
        match (open.is_empty(), first) {
            (true, Some(error)) => Err(reason(&error)),
            _ => Ok(Self { open }),
        }
    }

    /// Lets them run, or stops them.
    pub fn run(&self, on: bool) {
        for (_, counter) in &self.open {
            let request = if on { ENABLE } else { DISABLE };
            // SAFETY: the request takes no pointer.
            unsafe { libc::ioctl(counter.as_raw_fd(), request as _, 0) };
        }
    }

    /// Returns what was counted, scaled where events had to share a counter.
    pub fn read(&self) -> Vec<(&'static str, f64)> {
        let mut found = Vec::new();
        for (name, counter) in &self.open {
            let mut bytes = [0_u8; 24];
            if !matches!(rustix::io::read(counter, &mut bytes), Ok(24)) {
                continue;
            }
            let word = |idx: usize| {
                let mut word = [0; 8];
                word.copy_from_slice(&bytes[8 * idx..8 * idx + 8]);
                u64::from_ne_bytes(word) as f64
            };
            let (value, wanted, counted) = (word(0), word(1), word(2));
            if 0.0 < counted {
                found.push((*name, value * (wanted / counted).max(1.0)));
            }
        }
        found
    }
}

/// Returns whether this machine counts events of processes.
///
/// # Errors
/// Why it does not, in a sentence for people.
pub fn availability() -> Result<(), String> {
    Counters::of(0).map(|_| ())
}

/// Returns why counters cannot be opened, in words for users.
pub fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "the processor shows no event counters here, as in most virtual machines".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the operating system keeps the event counters to itself (kernel.perf_event_paranoid above 2, or a container's filter of system calls)".into()
        }
        Some(libc::ENOSYS) => "the operating system has no event counters".into(),
        _ => format!("the event counters cannot be opened: {error}"),
    }
}

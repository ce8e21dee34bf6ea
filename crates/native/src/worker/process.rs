//! What the operating system says of a process.

/// What must not change about a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    threads: String,
    caught: String,
    ignored: String,
    blocked: String,
    seccomp: String,
}

impl Identity {
    pub(super) fn of_nobody() -> Self {
        Self::read("")
    }

    pub(super) fn read(status: &str) -> Self {
        let own = |name| field(status, name).to_owned();
        Self {
            threads: own("Threads"),
            caught: own("SigCgt"),
            ignored: own("SigIgn"),
            blocked: own("SigBlk"),
            seccomp: own("Seccomp"),
        }
    }
}

/// Returns the value of one line of `/proc/PID/status`.
pub(super) fn field<'s>(status: &'s str, name: &str) -> &'s str {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .unwrap_or("")
        .trim()
}

/// Returns the clock that counts the processor time of a process.
pub(crate) fn cpu_clock(pid: rustix::process::Pid) -> std::io::Result<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the call writes to `clock` only.
    match unsafe { libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &raw mut clock) } {
        0 => Ok(clock),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// Returns what such a clock has counted, nanoseconds; it stands still when the process has ended.
pub(crate) fn counted_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

//! System calls of Linux by name.

/// Returns the names of system calls that one may expect.
pub(crate) fn name_of(number: u64) -> String {
    let name = match number as i64 {
        libc::SYS_clone => "clone",
        libc::SYS_clone3 => "clone3",
        libc::SYS_write => "write",
        libc::SYS_read => "read",
        libc::SYS_mmap => "mmap",
        libc::SYS_mprotect => "mprotect",
        libc::SYS_openat => "openat",
        libc::SYS_rt_sigaction => "rt_sigaction",
        libc::SYS_clock_gettime => "clock_gettime",
        libc::SYS_clock_settime => "clock_settime",
        libc::SYS_socket => "socket",
        libc::SYS_kill => "kill",
        libc::SYS_execve => "execve",
        libc::SYS_ptrace => "ptrace",
        _ => old_name(number as i64),
    };
    match name {
        "" => String::new(),
        name => format!(", `{name}`"),
    }
}

#[cfg(target_arch = "x86_64")]
fn old_name(number: i64) -> &'static str {
    match number {
        libc::SYS_fork => "fork",
        libc::SYS_vfork => "vfork",
        libc::SYS_open => "open",
        _ => "",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn old_name(_number: i64) -> &'static str {
    ""
}

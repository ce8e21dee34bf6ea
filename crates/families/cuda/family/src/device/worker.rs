//! Processes that talk to the driver, one for each evaluation.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Of what a worker answers so much is read, bytes.
const LONGEST_ANSWER: usize = 64 << 20;

/// How long the end of a killed worker is waited for.
const END_OF_A_KILLED_ONE: Duration = Duration::from_secs(30);

/// How a worker ended.
#[derive(Debug)]
pub enum Ended {
    /// It answered.
    Answered(Vec<u8>),
    /// It had not answered when its time was over, and was killed.
    Late,
    /// It ended without an answer; what it was ended by, in words.
    Died(String),
}

/// Runs `job` in a process of its own and returns what it answers, within `time`.
///
/// The process is a copy of this one, so that the job has all that it needs; it keeps no open
/// file but the way back, and ends with the caller. The driver has never been loaded in the
/// caller, and nothing of the kernel under test runs on the processor.
///
/// # Errors
/// The system starts no process.
pub fn run(time: Duration, job: impl FnOnce() -> Vec<u8>) -> io::Result<Ended> {
    let mut ends = [0; 2];
    // SAFETY: the call fills in two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both are open and nobody else's.
    let (reader, writer) =
        unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: the child goes on with a copy of this thread alone. It waits for no other: the
    // allocator and the loader of the C library are made ready for it by `fork`, and the job
    // takes no lock that another thread may have held.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            alone(writer.as_raw_fd());
            let answer = catch_unwind(AssertUnwindSafe(job));
            // SAFETY: these end the process without what the caller would do at its end.
            unsafe {
                match answer {
                    Ok(answer) => {
                        write_all(ANSWER, &answer);
                        libc::_exit(0)
                    }
                    Err(_) => libc::_exit(101),
                }
            }
        }
        child => {
            drop(writer);
            Ok(watch(child, reader, time))
        }
    }
}

/// The descriptor that a worker answers on.
const ANSWER: i32 = 3;

/// Makes the child one that has nothing of its parent but its memory.
fn alone(writer: i32) {
    // SAFETY: calls of the system on descriptors and limits of this process alone.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        // The way back may have the number of another; the higher of two is kept free.
        let kept = libc::fcntl(writer, libc::F_DUPFD, 16);
        for standard in 0..3 {
            libc::dup2(nothing, standard);
        }
        libc::dup2(kept, ANSWER);
        libc::syscall(libc::SYS_close_range, ANSWER + 1, u32::MAX, 0);
        // The driver reserves addresses for all memory that there is.
        let most = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        let mut limit = most;
        if libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_AS, &raw const limit);
        }
        // What the driver compiles is kept nowhere.
        libc::setenv(c"CUDA_CACHE_DISABLE".as_ptr(), c"1".as_ptr(), 1);
        libc::setenv(c"CUDA_MODULE_LOADING".as_ptr(), c"EAGER".as_ptr(), 1);
    }
}

fn write_all(descriptor: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are there.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = &bytes[written..],
            Err(_) => return,
        }
    }
}

/// Reads what the child answers and sees to its end.
fn watch(child: i32, reader: OwnedFd, time: Duration) -> Ended {
    let deadline = Instant::now() + time;
    let descriptor = reader.as_raw_fd();
    let mut reader = std::fs::File::from(reader);
    let mut answer = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let is_whole = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || LONGEST_ANSWER < answer.len() {
            break false;
        }
        let mut polled = libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        };
        let milliseconds = left.as_millis().clamp(1, 60_000) as i32;
        // SAFETY: one descriptor, which is open.
        if unsafe { libc::poll(&raw mut polled, 1, milliseconds) } <= 0 {
            continue;
        }
        match reader.read(&mut buffer) {
            Ok(0) => break true,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break true,
        }
    };
    let mut status = 0;
    if !is_whole {
        let given_up = Instant::now() + END_OF_A_KILLED_ONE;
        // SAFETY: the child is this process's own and was not waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            // A device that does not stop must not stop this process, too.
            while libc::waitpid(child, &raw mut status, libc::WNOHANG) == 0
                && Instant::now() < given_up
            {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        return Ended::Late;
    }
    // SAFETY: the same.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        return Ended::Answered(answer);
    }
    Ended::Died(if libc::WIFSIGNALED(status) {
        format!("signal {}", libc::WTERMSIG(status))
    } else {
        format!("exit code {}", libc::WEXITSTATUS(status))
    })
}

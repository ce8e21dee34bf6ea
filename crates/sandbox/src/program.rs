//! Starting a program that confines itself first.
//!
//! The child shares the parent's memory until it becomes the program, and the
//! calling thread waits for that (`CLONE_VM | CLONE_VFORK`, what C libraries do
//! in `posix_spawn`). A `fork` would copy the parent's page tables each time,
//! which takes milliseconds of a process that holds large tensors, and may be
//! refused where memory is not overcommitted. `posix_spawn` itself cannot enter
//! a confinement.

use crate::confinement::{Confinement, check};
use rustix::process::Pid;
use std::ffi::{CString, OsStr, OsString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// Bytes of stack for what the child does before it becomes the program.
const STACK_BYTES: usize = 64 * 1024;

/// The exit code of a child that could not become the program; nobody sees it,
/// because the reason is reported.
const NOT_STARTED: c_int = 127;

/// What is to be started, and what of the parent's it gets.
pub(crate) struct Program<'a> {
    /// The file, absolute or seen from `working_folder`.
    pub(crate) path: &'a Path,
    /// What it is told, without its own name.
    pub(crate) arguments: Vec<&'a OsStr>,
    /// All of its environment.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// Where it starts.
    pub(crate) working_folder: &'a Path,
    /// Standard input, output and error.
    pub(crate) streams: [BorrowedFd<'a>; 3],
    /// Further descriptors, open in it under the numbers they have here.
    pub(crate) descriptors: &'a [BorrowedFd<'a>],
}

impl Program<'_> {
    /// Starts the program under `confinement`, as the leader of a session, with
    /// every signal as it is by default, and returns its process, which the
    /// caller reaps.
    ///
    /// # Errors
    /// If a text holds a zero byte, or the first thing that the system refused.
    pub(crate) fn start(&self, confinement: &Confinement) -> io::Result<Pid> {
        let path = CString::new(self.path.as_os_str().as_bytes())?;
        let arguments = texts(self.arguments.iter().map(|argument| argument.as_bytes()))?;
        let variables = self.environment.iter();
        let environment =
            texts(variables.map(|(name, value)| [name.as_bytes(), value.as_bytes()].join(&b'=')))?;
        let argument_pointers = pointers(std::iter::once(&path).chain(&arguments));
        let environment_pointers = pointers(&environment);
        let inherited: Vec<RawFd> = self.descriptors.iter().map(AsRawFd::as_raw_fd).collect();
        let working_folder = CString::new(self.working_folder.as_os_str().as_bytes())?;
        let mut child = Child {
            path: &path,
            arguments: &argument_pointers,
            environment: &environment_pointers,
            working_folder: &working_folder,
            streams: self.streams.map(|stream| stream.as_raw_fd()),
            inherited: &inherited,
            confinement,
            failure: None,
        };
        let pid = child.start()?;
        match child.failure {
            None => Ok(pid),
            Some(error) => {
                let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                Err(error)
            }
        }
    }
}

fn texts<T: Into<Vec<u8>>>(bytes: impl Iterator<Item = T>) -> io::Result<Vec<CString>> {
    Ok(bytes.map(CString::new).collect::<Result<_, _>>()?)
}

/// Returns pointers to `texts` with a null pointer behind them, as `execve`
/// wants them.
fn pointers<'a>(texts: impl IntoIterator<Item = &'a CString>) -> Vec<*const c_char> {
    let pointers = texts.into_iter().map(|text| text.as_ptr());
    pointers.chain([ptr::null()]).collect()
}

/// All that the child reads, laid out before it exists, and the one thing that
/// it writes.
struct Child<'a> {
    path: &'a CString,
    arguments: &'a [*const c_char],
    environment: &'a [*const c_char],
    working_folder: &'a CString,
    streams: [RawFd; 3],
    inherited: &'a [RawFd],
    confinement: &'a Confinement,
    failure: Option<io::Error>,
}

impl Child<'_> {
    /// Makes the process and returns when it has become the program, or ended
    /// with `failure` set.
    fn start(&mut self) -> io::Result<Pid> {
        // The stack grows downwards from an address that 16 divides.
        let mut stack = vec![MaybeUninit::<u128>::uninit(); STACK_BYTES / size_of::<u128>()];
        // A handler of the parent must not run in a child that shares its
        // memory: signals wait until the child has no handlers any more.
        let pid = with_signals_held(|| {
            // SAFETY: the stack is large enough for `become_program`, which makes
            // system calls only. Nothing it reads is changed or freed meanwhile,
            // since this thread goes on when it has ended or become the program.
            unsafe {
                libc::clone(
                    become_program,
                    stack.as_mut_ptr_range().end.cast(),
                    libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                    ptr::from_mut(self).cast(),
                )
            }
        })?;
        Pid::from_raw(pid).ok_or_else(io::Error::last_os_error)
    }

    /// Sets up what the program finds, and becomes it. Returns why not.
    ///
    /// Makes system calls only: other threads of the parent may hold the locks
    /// of the allocator and of everything else.
    fn become_program(&self) -> io::Result<std::convert::Infallible> {
        // SAFETY: plain system calls on values that outlive them.
        unsafe {
            for (number, stream) in (0..).zip(self.streams) {
                check(libc::dup2(stream, number).into())?;
            }
            check(libc::chdir(self.working_folder.as_ptr()).into())?;
            self.confinement.enter()?;
            for descriptor in self.inherited {
                check(libc::fcntl(*descriptor, libc::F_SETFD, 0).into())?;
            }
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            for signal in 1..=libc::SIGRTMAX() {
                // Those of the C library and the two that nobody handles are refused.
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            check(libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()).into())?;
            libc::execve(
                self.path.as_ptr(),
                self.arguments.as_ptr(),
                self.environment.as_ptr(),
            );
        }
        Err(io::Error::last_os_error())
    }
}

/// Where the child begins: on a stack of its own, in the parent's memory.
extern "C" fn become_program(child: *mut c_void) -> c_int {
    // SAFETY: the thread that made this pointer waits, so nobody else uses it.
    let child = unsafe { &mut *child.cast::<Child<'_>>() };
    let Err(error) = child.become_program();
    child.failure = Some(error);
    // SAFETY: ends this process and nothing of the parent's.
    unsafe { libc::_exit(NOT_STARTED) }
}

/// Calls `start` while this thread takes no signals, and returns the process
/// that it made.
fn with_signals_held(start: impl FnOnce() -> libc::pid_t) -> io::Result<libc::pid_t> {
    // SAFETY: plain system calls on values that outlive them.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        match libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) {
            0 => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
        let pid = start();
        let made = check(pid.into());
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        made.map(|()| pid)
    }
}

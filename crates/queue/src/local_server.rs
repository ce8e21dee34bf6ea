//! A `nats-server` of this machine, started and watched.

use crate::error::QueueError;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that lives for so long is not one that cannot start.
const SOUND: Duration = Duration::from_secs(5);

/// A server that ends with the value.
#[derive(Debug)]
pub struct LocalServer {
    program: PathBuf,
    folder: PathBuf,
    configuration: PathBuf,
    child: Child,
    started: Instant,
    _lock: File,
}

impl LocalServer {
    /// Starts the `nats-server` found in the folders of `path` with a configuration that listens
    /// to `listen`, in the configuration's folder, where it writes its log. A server of this
    /// configuration whose watcher was killed is ended before.
    ///
    /// # Errors
    /// [`QueueError::Machine`] if there is no `nats-server`, somebody watches one with this
    /// configuration already, the address cannot be listened to, or the server does not start.
    pub fn start(
        path: Option<&std::ffi::OsStr>,
        configuration: &Path,
        listen: SocketAddr,
    ) -> Result<Self, QueueError> {
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        let mut programs = folders.map(|it| it.join("nats-server"));
        let program = programs.find(|it| it.is_file());
        let program = program.ok_or_else(|| QueueError::Machine {
            what: "there is no nats-server on PATH".to_owned(),
            remedy: "install it: `apt install nats-server` on Debian and Ubuntu, `brew install \
                     nats-server` on macOS, or one file from \
                     https://github.com/nats-io/nats-server/releases"
                .to_owned(),
        })?;
        let unusable = |error: io::Error| QueueError::Machine {
            what: format!("{} cannot be used: {error}", configuration.display()),
            remedy: "name a configuration in a folder that you may write".to_owned(),
        };
        let configuration = std::path::absolute(configuration).map_err(unusable)?;
        let folder = configuration.parent().unwrap_or(Path::new("/")).to_owned();
        let lock = File::create(folder.join(LOCK)).map_err(unusable)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(QueueError::Machine {
                what: format!("a server runs with {} already", configuration.display()),
                remedy: "start a worker beside it with `autocomp worker --queue ADDRESS`, or \
                         name another folder with `--folder`"
                    .to_owned(),
            });
        }
        end_left_behind(&folder, &configuration);
        check(listen)?;
        let child = spawn(&program, &folder, &configuration)?;
        Ok(Self {
            program,
            folder,
            configuration,
            child,
            started: Instant::now(),
            _lock: lock,
        })
    }

    /// Starts the server again if it has ended; returns whether it had.
    ///
    /// # Errors
    /// [`QueueError::Machine`] if it ended just after it was started.
    pub fn keep_up(&mut self) -> Result<bool, QueueError> {
        let Ok(Some(status)) = self.child.try_wait() else {
            return Ok(false);
        };
        if self.started.elapsed() < SOUND {
            return Err(QueueError::Machine {
                what: format!("the nats-server does not stay up ({status})"),
                remedy: format!("see {}", self.folder.join(LOG).display()),
            });
        }
        self.restart()?;
        Ok(true)
    }

    /// Starts the server again, whether it has ended or does not answer.
    ///
    /// # Errors
    /// [`QueueError::Machine`] if it does not start.
    pub fn restart(&mut self) -> Result<(), QueueError> {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.child = spawn(&self.program, &self.folder, &self.configuration)?;
        self.started = Instant::now();
        Ok(())
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // It writes what it has before it ends.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let ends = Instant::now() + SOUND;
        while Instant::now() < ends {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server's log, in the folder of its configuration.
const LOG: &str = "nats-server.log";

/// The number of the server's process, there.
const NUMBER: &str = "nats-server.pid";

/// Held by who watches the server, there.
const LOCK: &str = "nats-server.lock";

/// Ends the server whose watcher was killed, if it still runs. Nobody holds its lock.
fn end_left_behind(folder: &Path, configuration: &Path) {
    let number = fs::read_to_string(folder.join(NUMBER)).unwrap_or_default();
    let Some(id) = number.trim().parse().ok().and_then(Pid::from_raw) else {
        return;
    };
    // The number may be somebody else's by now; where this cannot be seen, nobody is ended.
    let line = fs::read(format!("/proc/{}/cmdline", id.as_raw_nonzero())).unwrap_or_default();
    let mut words = line.split(|it| *it == 0);
    if !words.any(|it| it == configuration.as_os_str().as_encoded_bytes()) {
        return;
    }
    let _ = kill_process(id, Signal::TERM);
    let ends = Instant::now() + SOUND;
    while test_kill_process(id).is_ok() && Instant::now() < ends {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Refuses an address that cannot be listened to; a server of somebody else there would be taken
/// for the own one.
fn check(listen: SocketAddr) -> Result<(), QueueError> {
    let Err(error) = TcpListener::bind(listen) else {
        return Ok(());
    };
    let remedy = match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            "name an address of this machine with `--address`; 0.0.0.0 is all of them"
        }
        io::ErrorKind::PermissionDenied => "name a port above 1023 with `--port`",
        _ => "name another port with `--port`, or end who listens there",
    };
    Err(QueueError::Machine {
        what: format!("the server cannot listen at {listen}: {error}"),
        remedy: remedy.to_owned(),
    })
}

fn spawn(program: &Path, folder: &Path, configuration: &Path) -> Result<Child, QueueError> {
    let failed = |error: std::io::Error| QueueError::Machine {
        what: format!("{} does not start: {error}", program.display()),
        remedy: "see whether it runs by hand: nats-server --version".to_owned(),
    };
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join(LOG))
        .map_err(failed)?;
    let started = Command::new(program)
        .arg("-c")
        .arg(configuration)
        .arg("-P")
        .arg(folder.join(NUMBER))
        .current_dir(folder)
        // What ends the worker from a terminal lets the server serve until the worker has ended.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    started.map_err(failed)
}

//! A `nats-server` of this machine, started and watched.

use crate::error::QueueError;
use std::fs::File;
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
}

impl LocalServer {
    /// Starts the `nats-server` found in the folders of `path` with a configuration, in the
    /// configuration's folder, where it writes its log.
    ///
    /// # Errors
    /// [`QueueError::Machine`] if there is none, or it does not start.
    pub fn start(path: Option<&std::ffi::OsStr>, configuration: &Path) -> Result<Self, QueueError> {
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
        let folder = configuration.parent().unwrap_or(Path::new(".")).to_owned();
        let child = spawn(&program, &folder, configuration)?;
        Ok(Self {
            program,
            folder,
            configuration: configuration.to_owned(),
            child,
            started: Instant::now(),
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
        self.child = spawn(&self.program, &self.folder, &self.configuration)?;
        self.started = Instant::now();
        Ok(true)
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        // It writes what it has before it ends.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
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
    let configuration = std::path::absolute(configuration).map_err(failed)?;
    let started = Command::new(program)
        .arg("-c")
        .arg(configuration)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    started.map_err(failed)
}

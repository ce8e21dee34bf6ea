//! A device that is measured on by one process at a time.

use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::cache::LEASES;
use rustix::fs::{FlockOperation, flock};
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::time::Duration;

/// How long to wait before the machine is asked again whether a device is free.
const PAUSE: Duration = Duration::from_millis(20);

/// A device that nobody else on this machine measures on while this value lives.
#[derive(Debug)]
pub struct Lease {
    seed: Seed,
    /// Locked until it is closed.
    _lock: File,
    /// The machine gives its name to nobody else until it is closed.
    _name: UnixListener,
}

impl Lease {
    /// Waits until `device` is free, and takes it. The name is the caller's. Processes that give
    /// the same name wait for each other: those with one cache folder in line, and those with a
    /// folder each by a name on the machine, which is one for each network namespace.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the folder for the lock cannot be written, or the machine
    /// has no names to give.
    pub fn take(cache_folder: &Path, device: &str) -> Result<Self, EvalError> {
        let folder = cache_folder.join(LEASES);
        let path = folder.join(format!("{device}-timing.lock"));
        let unusable = |error: std::io::Error| EvalError::Environment {
            message: format!("cannot lock {}: {error}", path.display()),
            remedies: vec!["make room, or set AUTOCOMP_CACHE_DIR to another folder".into()],
        };
        std::fs::create_dir_all(&folder).map_err(unusable)?;
        let lock = File::create(&path).map_err(unusable)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| unusable(error.into()))?;
        let name = named(device).map_err(unusable)?;
        let mut random = [0; 8];
        let seed = match getrandom(&mut random, GetRandomFlags::empty()) {
            Ok(8) => u64::from_ne_bytes(random),
            _ => std::process::id().into(),
        };
        Ok(Self {
            seed: Seed(seed),
            _lock: lock,
            _name: name,
        })
    }

    /// Returns a seed for the order of measurements, another one for each lease.
    #[must_use]
    pub fn seed(&self) -> Seed {
        self.seed
    }
}

/// Waits until no process of the machine has the name of `device`, and takes it. A process that
/// ends, however it ends, gives its names back.
fn named(device: &str) -> io::Result<UnixListener> {
    let name = SocketAddr::from_abstract_name(format!("autocomp-{device}-timing"))?;
    loop {
        match UnixListener::bind_addr(&name) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

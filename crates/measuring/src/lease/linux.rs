//! Names that Linux gives to one process at a time.

use rustix::rand::{GetRandomFlags, getrandom};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

/// How long to wait before the machine is asked again whether a device is free.
const PAUSE: Duration = Duration::from_millis(20);

/// A name that is the process's until it is closed.
pub(super) type Name = UnixListener;

/// Waits until no process of the machine has the name of `device`, and takes it. A process that
/// ends, however it ends, gives its names back.
pub(super) fn named(device: &str) -> io::Result<Name> {
    let name = SocketAddr::from_abstract_name(format!("autocomp-{device}-timing"))?;
    loop {
        match UnixListener::bind_addr(&name) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}

/// Returns a number that nobody can foresee, if the system gives one.
pub(super) fn random() -> Option<u64> {
    let mut random = [0; 8];
    match getrandom(&mut random, GetRandomFlags::empty()) {
        Ok(8) => Some(u64::from_ne_bytes(random)),
        _ => None,
    }
}

//! A device is one process's at a time.

use autocomp_measuring::Lease;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

#[test]
fn one_device_is_taken_and_another_is_free() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("cache");
    let lease = Lease::take(&cache, "gpu0").expect("a lease");
    let _other = Lease::take(&cache, "gpu1").expect("a lease");
    let is_free = || {
        let file = File::open(cache.join("leases/gpu0-timing.lock")).expect("the lock");
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    };
    assert!(!is_free());
    drop(lease);
    assert!(is_free());
}

#[test]
fn a_device_is_one_for_all_cache_folders_of_the_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = format!("toy{}", std::process::id());
    let name = SocketAddr::from_abstract_name(format!("autocomp-{device}-timing")).expect("a name");
    let is_free = || UnixListener::bind_addr(&name).is_ok();
    let lease = Lease::take(&folder.path().join("one"), &device).expect("a lease");
    assert!(!is_free());
    let other = folder.path().join("other");
    let waiting = std::thread::spawn(move || Lease::take(&other, &device).map(drop));
    drop(lease);
    waiting.join().expect("no panic").expect("a lease");
    assert!(is_free());
}

#[test]
fn a_folder_that_cannot_be_written_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let error = Lease::take(&file, "gpu0").expect_err("no folder");
    assert!(error.to_string().contains("cannot lock"), "{error}");
}

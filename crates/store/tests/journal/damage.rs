//! Damaged runs: the damage is named, and no event is another one than was written.

use super::{create, drafted, read, scratch};
use autocomp_core::{ContentHash, Event};
use autocomp_store::{RunReader, RunWriter, StoreError};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Changes the database behind the back of the store.
fn meddle(folder: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(folder.join("run.sqlite")).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
}

#[test]
fn changed_and_missing_events_are_found() {
    let root = scratch();
    let reason = |name: &str, sql: &str| {
        let folder = root.path().join(name);
        create(&folder, 5);
        meddle(&folder, sql);
        let [reading, writing] = [
            read(&folder).unwrap_err(),
            RunWriter::open(&folder).unwrap_err(),
        ];
        assert_eq!(reading.to_string(), writing.to_string());
        let StoreError::Corrupt { reason, .. } = reading else {
            panic!("{reading}")
        };
        reason
    };
    assert_eq!(
        reason(
            "body",
            "UPDATE events SET body = replace(body, 'toy', 'boy') WHERE seq = 3"
        ),
        "event 3 was changed after it was written"
    );
    assert_eq!(
        reason("time", "UPDATE events SET elapsed_ms = 0 WHERE seq = 4"),
        "event 4 was changed after it was written"
    );
    assert_eq!(
        reason("gap", "DELETE FROM events WHERE seq = 2"),
        "event 2 is missing"
    );
}

/// Bytes of the head of each text.
const HEAD: usize = 40;

fn long() -> String {
    "a text that is long enough to be worth packing, ".repeat(9)
}

#[test]
fn damaged_texts_are_found() {
    let root = scratch();
    create(root.path(), 1);
    let path = root.path().join("blobs/pack");
    let n_before = fs::read(&path).unwrap().len();
    let mut opened = RunWriter::open(root.path()).unwrap();
    let hash = opened.writer.blobs().put(long().as_bytes()).unwrap();
    opened.writer.commit().unwrap();
    let whole = fs::read(&path).unwrap();
    assert!(whole.len() < n_before + HEAD + long().len(), "packed");
    let reason = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
        match blobs.get(hash).unwrap_err() {
            StoreError::CorruptBlob { reason, .. } => reason,
            error => panic!("{error}"),
        }
    };
    let mut bytes = whole.clone();
    bytes[n_before + HEAD..].fill(0);
    let unpacked = reason(&bytes);
    assert!(unpacked.starts_with("it cannot be unpacked"), "{unpacked}");
    // The head is good, and so is what follows, which is of another text.
    let mut bytes = whole.clone();
    let packed = zstd::bulk::compress(b"another text", 3).unwrap();
    bytes[n_before + HEAD..][..packed.len()].copy_from_slice(&packed);
    let other = reason(&bytes);
    assert!(
        other == "its content does not match its name"
            || other.starts_with("it cannot be unpacked"),
        "{other}"
    );
    for n_kept in [n_before, n_before + HEAD, whole.len() - 1] {
        assert_eq!(reason(&whole[..n_kept]), "it is missing");
    }
    // Another writer finds it damaged, or cut off, and writes it anew.
    drop(opened);
    for damaged in [&bytes[..], &whole[..whole.len() - 1], &whole[..n_before]] {
        fs::write(&path, damaged).unwrap();
        let opened = RunWriter::open(root.path()).unwrap();
        assert_eq!(opened.writer.blobs().put(long().as_bytes()).unwrap(), hash);
        opened.writer.close().unwrap();
        let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
        assert_eq!(blobs.get(hash).unwrap(), long().as_bytes());
    }
}

/// Returns where a text begins in the pack, and how many bytes it has there.
fn place_of(pack: &[u8], hash: ContentHash) -> (usize, usize) {
    let mut at = 0;
    loop {
        let length = u32::from_le_bytes(pack[at + 32..][..4].try_into().unwrap()) as usize;
        if pack[at..at + 32] == hash.0 {
            return (at + HEAD, length);
        }
        at += HEAD + length;
    }
}

#[test]
fn a_power_cut_costs_no_more_than_the_work_since_the_last_border() {
    let root = scratch();
    let events = create(root.path(), 6);
    let path = root.path().join("blobs/pack");
    // The fourth draft's text did not reach the disk.
    let lost = events[4].blobs()[0];
    let mut pack = fs::read(&path).unwrap();
    let (at, length) = place_of(&pack, lost);
    pack[at..at + length].fill(0);
    fs::write(&path, &pack).unwrap();
    let mut opened = RunWriter::open(root.path()).unwrap();
    assert_eq!(opened.n_dropped, 3);
    assert_eq!(opened.events.len(), 4);
    // The rest is done again.
    for draft in 3..6 {
        let event = drafted(opened.writer.blobs(), draft);
        opened.writer.append(&event, 9).unwrap();
    }
    opened.writer.close().unwrap();
    assert_eq!(read(root.path()).unwrap(), events);

    // A text that a border had made safe is not lost by a power cut.
    fs::write(&path, b"").unwrap();
    let error = RunWriter::open(root.path()).unwrap_err();
    assert!(matches!(error, StoreError::CorruptBlob { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"", "nothing is changed");
}

/// Whatever length of the texts reached the disk: a beginning of the run is left.
#[test]
fn a_torn_pack_leaves_a_prefix() {
    let root = scratch();
    let folder = root.path().join("run");
    let events = create(&folder, 8);
    let path = folder.join("blobs/pack");
    let pack = fs::read(&path).unwrap();
    for length in (place_of(&pack, events[0].blobs()[0]).1 + HEAD..pack.len()).step_by(7) {
        let torn = root.path().join(length.to_string());
        super::copy_folder(&folder, &torn);
        fs::write(torn.join("blobs/pack"), &pack[..length]).unwrap();
        let opened = RunWriter::open(&torn).unwrap();
        let kept: Vec<Event> = opened.events.into_iter().map(|it| it.event).collect();
        assert!(events.starts_with(&kept) && kept.len() + opened.n_dropped == events.len());
        for hash in kept.iter().flat_map(Event::blobs) {
            opened.writer.blobs().get(hash).unwrap();
        }
        opened.writer.close().unwrap();
        assert_eq!(read(&torn).unwrap(), kept);
    }
}

/// Programs of format 3 kept each text in a file of its own.
#[test]
fn texts_of_older_runs_are_read_and_the_run_goes_on() {
    let root = scratch();
    let mut events = create(root.path(), 3);
    let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
    let file_of = |hash: ContentHash| {
        let name = hash.to_string();
        root.path().join("blobs").join(&name[..2]).join(name)
    };
    for hash in events.iter().flat_map(Event::blobs) {
        let file = file_of(hash);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = blobs.get(hash).unwrap();
        fs::write(file, zstd::bulk::compress(&text, 3).unwrap()).unwrap();
    }
    fs::remove_file(root.path().join("blobs/pack")).unwrap();
    super::set_version(root.path(), 3000);
    assert_eq!(read(root.path()).unwrap(), events);
    let mut opened = RunWriter::open(root.path()).unwrap();
    assert_eq!(opened.n_dropped, 0);
    // The last one is known, and is not kept twice.
    for draft in [2, 3] {
        let event = drafted(opened.writer.blobs(), draft);
        opened.writer.append(&event, 9).unwrap();
        events.push(event);
    }
    opened.writer.close().unwrap();
    let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
    for hash in read(root.path()).unwrap().iter().flat_map(Event::blobs) {
        blobs.get(hash).unwrap();
    }
    let pack = fs::read(root.path().join("blobs/pack")).unwrap();
    assert_eq!(pack.len(), HEAD + "draft 3".len());
    // One of them is lost.
    fs::remove_file(file_of(events[0].blobs()[0])).unwrap();
    let error = RunWriter::open(root.path()).unwrap_err();
    assert!(matches!(error, StoreError::CorruptBlob { .. }), "{error}");
}

#[test]
fn a_torn_log_leaves_a_prefix() {
    let root = scratch();
    let folder = root.path().join("run");
    let events = create(&folder, 20);
    let log = fs::read(folder.join("run.sqlite-wal")).unwrap();
    let mut lengths = Vec::new();
    for length in (0..log.len()).step_by(997) {
        fs::write(folder.join("run.sqlite-wal"), &log[..length]).unwrap();
        fs::remove_file(folder.join("run.sqlite-shm")).ok();
        match read(&folder) {
            Ok(kept) => {
                assert!(events.starts_with(&kept));
                lengths.push(kept.len());
            }
            Err(error) => assert!(matches!(error, StoreError::NotStarted { .. }), "{error}"),
        }
    }
    assert!(lengths.is_sorted() && 10 < lengths.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever byte is changed: the same events, or an error, never other events.
    #[test]
    fn no_flipped_byte_changes_an_event(place in 0.0f64..1.0, flip in 1u8..=255) {
        let root = scratch();
        let events = create(root.path(), 12);
        RunWriter::open(root.path()).unwrap().writer.close().unwrap();
        let path = root.path().join("run.sqlite");
        let mut bytes = fs::read(&path).unwrap();
        let idx = (place * bytes.len() as f64) as usize;
        bytes[idx] ^= flip;
        fs::write(&path, bytes).unwrap();
        match read(root.path()) {
            Ok(kept) => prop_assert!(events.starts_with(&kept)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        let opened = RunWriter::open(root.path());
        if let Ok(opened) = opened {
            let kept: Vec<Event> = opened.events.into_iter().map(|stored| stored.event).collect();
            prop_assert!(events.starts_with(&kept));
        }
    }
}

//! Damaged runs: the damage is named, and no event is another one than was written.

use super::{create, drafted, read, scratch};
use autocomp_core::Event;
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

#[test]
fn damaged_texts_are_found() {
    let root = scratch();
    create(root.path(), 1);
    let opened = RunWriter::open(root.path()).unwrap();
    let blobs = opened.writer.blobs();
    let hash = blobs
        .put("a text that is long enough to be worth packing".as_bytes())
        .unwrap();
    let path = blobs.path(hash);
    let packed = fs::read(&path).unwrap();
    let reason = || match blobs.get(hash).unwrap_err() {
        StoreError::CorruptBlob { reason, .. } => reason,
        error => panic!("{error}"),
    };
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    assert!(
        reason().starts_with("it cannot be unpacked"),
        "{}",
        reason()
    );
    fs::write(&path, zstd::bulk::compress(b"another text", 3).unwrap()).unwrap();
    assert_eq!(reason(), "its content does not match its name");
    fs::remove_file(&path).unwrap();
    assert_eq!(reason(), "the file is missing");
    // Another process finds it missing, or damaged, and writes it anew.
    for damaged in [None, Some("")] {
        if let Some(damaged) = damaged {
            fs::write(&path, damaged).unwrap();
        }
        let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
        blobs
            .put("a text that is long enough to be worth packing".as_bytes())
            .unwrap();
        assert_eq!(fs::read(&path).unwrap(), packed);
    }
}

#[test]
fn a_power_cut_costs_no_more_than_the_work_since_the_last_border() {
    let root = scratch();
    let events = create(root.path(), 6);
    let blobs = RunReader::open(root.path()).unwrap().blobs().clone();
    // The fourth draft's text did not reach the disk.
    fs::write(blobs.path(events[4].blobs()[0]), "").unwrap();
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
    fs::remove_file(blobs.path(events[0].blobs()[0])).unwrap();
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

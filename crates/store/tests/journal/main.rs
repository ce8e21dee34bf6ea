//! Round trips and damage: what is written is read back, or the damage is named.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_event;
mod damage;
mod errors;
mod foreign;
mod memory;

use any_event::event;
use autocomp_core::{
    ContentHash, DraftRecord, Drafted, EVENT_FORMAT, Event, Proposal, Purpose, RunStarted,
    SearchSettings, Seed, TaskKey,
};
use autocomp_store::{Blobs, RunReader, RunWriter, StoreError, list_runs};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// Returns a folder for a test, in memory where the system offers that: a disk
/// that others keep busy takes a second for what the tests do all the time.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    tempfile::tempdir_in(memory)
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

fn started(blobs: &Blobs) -> Event {
    Event::Started(RunStarted {
        format: EVENT_FORMAT,
        program: "0.1.0".to_owned(),
        target: "toy".to_owned(),
        problem: "toy/p".to_owned(),
        evaluator: ContentHash::of(b"evaluator"),
        compiler: "cc 1".to_owned(),
        meaningful_indentation: false,
        proposers: Vec::new(),
        seed: Seed(1),
        settings: SearchSettings::default(),
        menu: Vec::new(),
        baseline: blobs.put(b"void solution() {}").unwrap(),
        taken: Vec::new(),
        confirmers: Vec::new(),
        reused: Vec::new(),
        forms: Vec::new(),
        lessons: Vec::new(),
        spec: None,
    })
}

fn drafted(blobs: &Blobs, draft: u32) -> Event {
    let source = blobs.put(format!("draft {draft}").as_bytes()).unwrap();
    Event::Drafted(Drafted {
        key: TaskKey {
            iteration: 1,
            parent: 0,
            plan: 0,
            draft,
            repair: 0,
            purpose: Purpose::Draft,
        },
        result: Proposal::Made(DraftRecord {
            proposer: "toy".to_owned(),
            source,
            form: None,
        }),
        exchanges: Vec::new(),
    })
}

/// Makes a run with `n_drafts` drafts as its process would leave it at its
/// death, and returns its events.
fn create(folder: &Path, n_drafts: u32) -> Vec<Event> {
    let live = scratch();
    let mut writer = RunWriter::create(live.path()).unwrap();
    let mut events = vec![started(writer.blobs())];
    events.extend((0..n_drafts).map(|draft| drafted(writer.blobs(), draft)));
    for (idx, event) in events.iter().enumerate() {
        let stored = writer.append(event, idx as u64).unwrap();
        assert_eq!(stored.seq, idx as u64 + 1);
    }
    copy_folder(live.path(), folder);
    events
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn read(folder: &Path) -> Result<Vec<Event>, StoreError> {
    let stored = RunReader::open(folder)?.read_on()?;
    Ok(stored.into_iter().map(|stored| stored.event).collect())
}

#[test]
fn a_reader_follows_a_writer() {
    let root = scratch();
    let mut writer = RunWriter::create(root.path()).unwrap();
    let first = started(writer.blobs());
    writer.append(&first, 0).unwrap();
    let mut reader = RunReader::open(root.path()).unwrap();
    assert_eq!(reader.read_on().unwrap().len(), 1);
    assert!(
        reader
            .live_holder()
            .unwrap()
            .starts_with(&format!("process {}", std::process::id()))
    );
    for draft in 0..3 {
        let event = drafted(writer.blobs(), draft);
        writer.append(&event, 5).unwrap();
        writer.border().unwrap();
        let seen = reader.read_on().unwrap();
        assert_eq!(
            seen.iter().map(|stored| &stored.event).collect::<Vec<_>>(),
            [&event]
        );
    }
    writer.close().unwrap();
    assert_eq!(reader.read_on().unwrap(), []);
    assert_eq!(reader.live_holder(), None);
}

#[test]
fn a_closed_run_is_one_file_that_read_only_media_can_hold() {
    let root = scratch();
    let folder = root.path().join("run #1 100%?");
    let events = create(&folder, 3);
    assert!(folder.join("run.sqlite-wal").exists());
    RunWriter::open(&folder).unwrap().writer.close().unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["blobs", "lock", "run.sqlite"]);
    assert_eq!(read(&folder).unwrap(), events);
}

#[test]
fn what_is_no_run_is_refused_with_its_reason() {
    let root = scratch();
    let path = root.path();
    let error = |folder: &Path| {
        let read = RunReader::open(folder).unwrap_err();
        let write = RunWriter::open(folder).unwrap_err();
        assert_eq!(read.to_string(), write.to_string());
        assert!(!read.remedy().is_empty());
        read.to_string()
            .replace(&path.display().to_string(), "ROOT")
    };
    insta::assert_snapshot!(
        error(&path.join("absent")),
        @"ROOT/absent is not a run folder: there is no such folder"
    );
    insta::assert_snapshot!(error(path), @"ROOT is not a run folder: it has no run.sqlite");
    // Looking does not leave anything behind.
    assert_eq!(fs::read_dir(path).unwrap().count(), 0);

    let foreign = path.join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(
        foreign.join("run.sqlite"),
        "not a database, but long enough to be looked at ".repeat(9),
    )
    .unwrap();
    insta::assert_snapshot!(
        error(&foreign),
        @"the journal ROOT/foreign/run.sqlite is damaged: file is not a database"
    );

    let unstarted = path.join("unstarted");
    fs::create_dir(&unstarted).unwrap();
    fs::write(unstarted.join("run.sqlite"), "").unwrap();
    insta::assert_snapshot!(error(&unstarted), @"the run in ROOT/unstarted was never started");
    // A run that died before its first event can be created again.
    assert_eq!(create(&unstarted, 1).len(), 2);
    let exists = RunWriter::create(&unstarted).unwrap_err();
    assert!(matches!(exists, StoreError::Exists { .. }), "{exists}");

    let busy = path.join("busy");
    fs::create_dir(&busy).unwrap();
    fs::write(busy.join("thesis.tex"), "").unwrap();
    let exists = RunWriter::create(&busy).unwrap_err();
    assert!(matches!(exists, StoreError::Exists { .. }), "{exists}");
    assert_eq!(list_runs(path).unwrap(), [foreign, unstarted]);
    assert_eq!(
        list_runs(&path.join("absent")).unwrap(),
        Vec::<std::path::PathBuf>::new()
    );
}

#[test]
fn one_writer_at_a_time() {
    let root = scratch();
    create(root.path(), 1);
    let opened = RunWriter::open(root.path()).unwrap();
    let error = RunWriter::open(root.path()).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains(&format!("process {}", std::process::id())),
        "{error}"
    );
    drop(opened);
    RunWriter::open(root.path()).unwrap();
}

fn set_version(folder: &Path, version: u32) {
    let connection = rusqlite::Connection::open(folder.join("run.sqlite")).unwrap();
    connection
        .pragma_update(None, "user_version", version)
        .unwrap();
}

#[test]
fn newer_formats_are_read_if_minor_and_never_written() {
    let root = scratch();
    let events = create(root.path(), 2);
    RunWriter::open(root.path())
        .unwrap()
        .writer
        .close()
        .unwrap();
    let (major, minor) = autocomp_store::FORMAT;
    set_version(root.path(), major * 1000 + minor + 1);
    assert_eq!(read(root.path()).unwrap(), events);
    let error = RunWriter::open(root.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("has format 6.1, but this program writes only formats up to 6.0"),
        "{error}"
    );
    set_version(root.path(), (major + 1) * 1000);
    let error = RunReader::open(root.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("has format 7.0, but this program reads only formats up to 6.0"),
        "{error}"
    );
}

/// A run of an older program is read as it is, and once it goes on, programs of
/// that time no longer take it for one of theirs.
#[test]
fn older_formats_are_read_and_written_on_as_the_newest() {
    let root = scratch();
    let events = create(root.path(), 2);
    set_version(root.path(), 1000);
    assert_eq!(read(root.path()).unwrap(), events);
    let version = || -> u32 {
        rusqlite::Connection::open(root.path().join("run.sqlite"))
            .unwrap()
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(version(), 1000);
    RunWriter::open(root.path())
        .unwrap()
        .writer
        .close()
        .unwrap();
    let (major, minor) = autocomp_store::FORMAT;
    assert_eq!(version(), major * 1000 + minor);
    assert_eq!(read(root.path()).unwrap(), events);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_event_comes_back_as_it_was(events in prop::collection::vec(event(), 1..20)) {
        let root = scratch();
        let mut writer = RunWriter::create(root.path()).unwrap();
        for event in &events {
            writer.append(event, 0).unwrap();
        }
        drop(writer);
        prop_assert_eq!(read(root.path()).unwrap(), events);
    }

    /// Whoever writes, and whether the process goes on until everything is written: events are
    /// in order, none is there without those before it or without its text.
    #[test]
    fn events_that_are_written_behind_stay_in_order(
        steps in prop::collection::vec(0..4, 1..40),
        is_committed: bool,
    ) {
        let root = scratch();
        let mut writer = RunWriter::create(root.path()).unwrap();
        let mut events = vec![started(writer.blobs())];
        writer.append_later(events[0].clone(), 0).unwrap();
        let mut kept = Vec::new();
        for (draft, step) in steps.into_iter().enumerate() {
            let event = drafted(writer.blobs(), draft as u32);
            events.push(event.clone());
            writer.append_later(event, 0).unwrap();
            match step {
                0 => {}
                1 => writer.commit().unwrap(),
                2 => writer.border().unwrap(),
                _ => writer.commit_behind().unwrap(),
            }
            kept.append(&mut writer.take_kept());
            // Who is told of an event can read it.
            let seen = RunReader::open(root.path()).unwrap().read_on().unwrap();
            prop_assert_eq!(&seen[..kept.len()], &kept);
        }
        if is_committed {
            writer.commit().unwrap();
            prop_assert!(writer.is_kept());
            kept.append(&mut writer.take_kept());
            prop_assert_eq!(kept.len(), events.len());
        }
        drop(writer);
        let mut reader = RunReader::open(root.path()).unwrap();
        let seen = reader.read_on().unwrap();
        prop_assert!(kept.len() <= seen.len() && seen.len() <= events.len());
        for (idx, (stored, event)) in seen.iter().zip(&events).enumerate() {
            prop_assert_eq!(stored.seq, idx as u64 + 1);
            prop_assert_eq!(&stored.event, event);
            for hash in event.blobs() {
                prop_assert!(reader.blobs().get(hash).is_ok());
            }
        }
    }

    #[test]
    fn every_text_comes_back_as_it_was(text: Vec<u8>) {
        let root = scratch();
        let writer = RunWriter::create(root.path()).unwrap();
        let hash = writer.blobs().put(&text).unwrap();
        prop_assert_eq!(hash, ContentHash::of(&text));
        prop_assert_eq!(&writer.blobs().get(hash).unwrap(), &text);
        // Nobody else knows it until it is written.
        let reader = Blobs::clone(RunReader::open(root.path()).unwrap().blobs());
        prop_assert!(reader.get(hash).is_err());
        writer.close().unwrap();
        prop_assert_eq!(reader.get(hash).unwrap(), text);
    }
}

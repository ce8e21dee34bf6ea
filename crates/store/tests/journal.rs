//! Round trips and damage: what is written is read back, or the damage is named.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use autocomp_core::{
    CandidateId, ContentHash, Cycles, Diagnostic, DraftRecord, Drafted, EVENT_FORMAT, Evaluated,
    Evaluation, Event, ExchangeRecord, Feedback, FinishReason, Finished, IterationClosed,
    IterationOpened, Measurement, MenuItem, Nanos, NewCandidate, Outcome, PlanRecord, Planned,
    Proposal, Purpose, Resumed, RunStarted, SearchSettings, Seed, Severity, SourceLocation, Stage,
    StopReason, Stopped, TaskKey, TierCost, Usage, UsdMicros,
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
        proposers: Vec::new(),
        seed: Seed(1),
        settings: SearchSettings::default(),
        menu: Vec::new(),
        baseline: blobs.put(b"void solution() {}").unwrap(),
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
            .ends_with("has format 1.1, but this program writes only formats up to 1.0"),
        "{error}"
    );
    set_version(root.path(), (major + 1) * 1000);
    let error = RunReader::open(root.path()).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("has format 2.0, but this program reads only formats up to 1.0"),
        "{error}"
    );
}

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

fn hash() -> impl Strategy<Value = ContentHash> {
    any::<[u8; 32]>().prop_map(ContentHash)
}

fn key() -> impl Strategy<Value = TaskKey> {
    let purpose = prop_oneof![
        Just(Purpose::Plan),
        Just(Purpose::Draft),
        Just(Purpose::Evaluate)
    ];
    (
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        purpose,
    )
        .prop_map(|(iteration, parent, plan, draft, purpose)| TaskKey {
            iteration,
            parent,
            plan,
            draft,
            repair: draft / 2,
            purpose,
        })
}

/// Finite figures of any size, as measurements have.
fn figure() -> impl Strategy<Value = f64> {
    prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO
}

fn exchanges() -> impl Strategy<Value = Vec<ExchangeRecord>> {
    let exchange = (
        ".*",
        hash(),
        hash(),
        prop::option::of(".*"),
        any::<[u64; 6]>(),
        any::<(bool, u64)>(),
    );
    let exchange = exchange.prop_map(|(model, prompt, reply, error, usage, last)| {
        let [
            requests,
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost,
        ] = usage;
        let cost = UsdMicros(cost);
        let usage = Usage {
            requests,
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost,
        };
        ExchangeRecord {
            model,
            prompt,
            reply,
            error,
            usage,
            cost_is_estimate: last.0,
            latency_ms: last.1,
        }
    });
    prop::collection::vec(exchange, 0..3)
}

fn proposal<T: std::fmt::Debug + Clone + 'static>(
    made: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Proposal<T>> {
    prop_oneof![
        made.prop_map(Proposal::Made),
        ".*".prop_map(|message| Proposal::Nothing { message }),
        ".*".prop_map(|message| Proposal::Failed { message }),
    ]
}

fn evaluation() -> impl Strategy<Value = Evaluation> {
    let diagnostic = (
        ".*",
        ".*",
        prop::option::of((".*", any::<u32>(), any::<Option<u32>>())),
    );
    let diagnostic = diagnostic.prop_map(|(code, message, location)| Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code,
        notes: vec![message.clone()],
        message,
        location: location.map(|(file, line, column)| SourceLocation { file, line, column }),
        remedy: None,
    });
    let measurement =
        (any::<[u64; 4]>(), figure()).prop_map(|(counts, percent_of_peak)| Measurement {
            cycles: Cycles(counts[0]),
            cold_cycles: Cycles(counts[1]),
            instructions: counts[2],
            ideal_cycles: Cycles(counts[3]),
            percent_of_peak,
            engine: "sim".to_owned(),
            compiler: "cc".to_owned(),
        });
    let feedback =
        prop::collection::btree_map(".*", figure(), 0..4).prop_map(|counters| Feedback {
            bottleneck: "waits".to_owned(),
            counters,
            lines: Vec::new(),
        });
    (
        hash(),
        prop::sample::select(&Outcome::ALL[..]),
        prop::collection::vec(diagnostic, 0..3),
        prop::option::of(measurement),
        prop::option::of(feedback),
        any::<u64>(),
    )
        .prop_map(
            |(key, outcome, diagnostics, measurement, feedback, wall_ns)| Evaluation {
                key,
                outcome,
                diagnostics,
                measurement,
                feedback,
                tiers: vec![TierCost {
                    tier: "build".to_owned(),
                    wall_ns: Nanos(wall_ns),
                }],
            },
        )
}

fn event() -> impl Strategy<Value = Event> {
    let plan = (".*", ".*", hash()).prop_map(|(menu_item, proposer, plan)| PlanRecord {
        menu_item,
        proposer,
        plan,
    });
    let draft = (".*", hash()).prop_map(|(proposer, source)| DraftRecord { proposer, source });
    let ids = prop::collection::vec(any::<u32>().prop_map(CandidateId), 0..5);
    let new = (any::<(u32, u32, u64)>(), key(), hash()).prop_map(
        |((id, parent, cycles), key, source)| NewCandidate {
            id: CandidateId(id),
            key,
            parent: CandidateId(parent),
            source,
            cycles: Cycles(cycles),
        },
    );
    let start = (
        any::<u64>(),
        ".*",
        figure(),
        hash(),
        prop::option::of(hash()),
    )
        .prop_map(|(seed, text, slack, baseline, spec)| {
            Event::Started(RunStarted {
                format: EVENT_FORMAT,
                program: text.clone(),
                target: text.clone(),
                problem: text.clone(),
                evaluator: baseline,
                compiler: text.clone(),
                proposers: vec![text.clone()],
                seed: Seed(seed),
                settings: SearchSettings {
                    slack,
                    ..SearchSettings::default()
                },
                menu: vec![MenuItem {
                    id: text.clone(),
                    text,
                    applies_when: String::new(),
                }],
                baseline,
                spec,
            })
        });
    prop_oneof![
        start,
        ".*".prop_map(|program| Event::Resumed(Resumed { program })),
        (
            any::<u32>(),
            ids.clone(),
            prop::collection::vec(any::<Vec<u32>>(), 0..3)
        )
            .prop_map(|(iteration, parents, slots)| {
                Event::IterationOpened(IterationOpened {
                    iteration,
                    parents,
                    slots,
                    repairs: iteration,
                })
            }),
        (key(), proposal(plan), exchanges()).prop_map(|(key, result, exchanges)| {
            Event::Planned(Planned {
                key,
                result,
                exchanges,
            })
        }),
        (key(), proposal(draft), exchanges()).prop_map(|(key, result, exchanges)| {
            Event::Drafted(Drafted {
                key,
                result,
                exchanges,
            })
        }),
        (key(), hash(), evaluation()).prop_map(|(key, source, evaluation)| {
            Event::Evaluated(Evaluated {
                key,
                source,
                evaluation,
            })
        }),
        (
            any::<u32>(),
            prop::collection::vec(new, 0..3),
            ids,
            any::<u32>()
        )
            .prop_map(|(iteration, candidates, beam, evaluations)| {
                Event::IterationClosed(IterationClosed {
                    iteration,
                    candidates,
                    beam,
                    evaluations,
                })
            }),
        (".*", exchanges()).prop_map(|(message, exchanges)| {
            Event::Stopped(Stopped {
                reason: StopReason::Fault,
                message,
                exchanges,
            })
        }),
        (any::<Option<u64>>(), any::<u32>()).prop_map(|(cycles, evaluations)| {
            Event::Finished(Finished {
                reason: FinishReason::Stalled,
                best: cycles.map(|_| CandidateId(3)),
                best_cycles: cycles.map(Cycles),
                evaluations,
            })
        }),
    ]
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

    #[test]
    fn every_text_comes_back_as_it_was(text: Vec<u8>) {
        let root = scratch();
        let writer = RunWriter::create(root.path()).unwrap();
        let hash = writer.blobs().put(&text).unwrap();
        prop_assert_eq!(hash, ContentHash::of(&text));
        prop_assert_eq!(writer.blobs().get(hash).unwrap(), text);
    }
}

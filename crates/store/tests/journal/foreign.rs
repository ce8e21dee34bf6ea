//! Run folders that somebody else has made: nothing outside is written or waited for, no query
//! of theirs runs, and the fault is named.

use super::{create, drafted, read, scratch};
use autocomp_store::{RunWriter, StoreError, read_file, replace_file};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// What can stand in the place of a file.
const KINDS: [&str; 7] = [
    "link",
    "dangling link",
    "link to a device",
    "second name",
    "pipe",
    "socket",
    "folder",
];

/// The files of a run folder that are written.
const WRITTEN: [&str; 6] = [
    "run.sqlite",
    "run.sqlite-wal",
    "run.sqlite-shm",
    "run.sqlite-journal",
    "lock",
    "blobs/pack",
];

const PRECIOUS: &str = "precious";

/// Puts something of a kind into the place of a file; a link leads to `victim`.
fn put(kind: &str, place: &Path, victim: &Path) {
    if place.exists() {
        // A link to a good file is refused as well.
        fs::copy(place, victim).unwrap();
        fs::remove_file(place).unwrap();
    } else {
        fs::write(victim, PRECIOUS).unwrap();
    }
    match kind {
        "link" => symlink(victim, place).unwrap(),
        "dangling link" => symlink(victim.with_extension("absent"), place).unwrap(),
        "link to a device" => symlink("/dev/zero", place).unwrap(),
        "second name" => fs::hard_link(victim, place).unwrap(),
        "pipe" => rustix::fs::mknodat(
            rustix::fs::CWD,
            place,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap(),
        "socket" => drop(UnixListener::bind(place).unwrap()),
        "folder" => fs::create_dir(place).unwrap(),
        kind => panic!("{kind}"),
    }
}

#[test]
fn what_is_no_plain_file_is_refused_before_it_is_opened() {
    let root = scratch();
    for (idx, name) in WRITTEN.iter().enumerate() {
        for kind in KINDS {
            let folder = root.path().join(format!("{idx} {kind}"));
            create(&folder, 2);
            let victim = root.path().join(format!("victim {idx} {kind}"));
            put(kind, &folder.join(name), &victim);
            let before = fs::read(&victim).unwrap();
            let error = RunWriter::open(&folder).unwrap_err();
            assert!(
                matches!(&error, StoreError::NotPlain { path, .. } if path.ends_with(name)),
                "{name}, {kind}: {error}"
            );
            assert!(!error.remedy().is_empty());
            // Reading ends; of a file with a second name nothing is written.
            let _ = read(&folder);
            assert_eq!(fs::read(&victim).unwrap(), before, "{name}, {kind}");
            assert!(!victim.with_extension("absent").exists(), "{name}, {kind}");
        }
    }
}

#[test]
fn a_folder_of_texts_that_is_a_link_is_refused() {
    let root = scratch();
    let folder = root.path().join("run");
    create(&folder, 2);
    let elsewhere = root.path().join("elsewhere");
    fs::rename(folder.join("blobs"), &elsewhere).unwrap();
    symlink(&elsewhere, folder.join("blobs")).unwrap();
    let before = fs::read(elsewhere.join("pack")).unwrap();
    for error in [
        RunWriter::open(&folder).map(|_| ()).unwrap_err(),
        read(&folder).map(|_| ()).unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("blobs is a symbolic link"),
            "{error}"
        );
    }
    assert_eq!(fs::read(elsewhere.join("pack")).unwrap(), before);
    // A new run in a folder that was prepared.
    let prepared = root.path().join("prepared");
    fs::create_dir(&prepared).unwrap();
    symlink(&elsewhere, prepared.join("blobs")).unwrap();
    let error = RunWriter::create(&prepared).unwrap_err();
    assert!(matches!(error, StoreError::NotPlain { .. }), "{error}");
    for name in ["lock", "run.sqlite", "run.sqlite-wal"] {
        let prepared = root.path().join(format!("prepared {name}"));
        fs::create_dir(&prepared).unwrap();
        let victim = root.path().join(format!("victim {name}"));
        put("link", &prepared.join(name), &victim);
        let error = RunWriter::create(&prepared).unwrap_err();
        assert!(
            matches!(error, StoreError::NotPlain { .. }),
            "{name}: {error}"
        );
        assert_eq!(fs::read_to_string(&victim).unwrap(), PRECIOUS, "{name}");
    }
}

/// The folder itself is named by the user, who may have a link to it.
#[test]
fn a_run_is_reached_through_a_link_to_its_folder() {
    let root = scratch();
    let events = create(&root.path().join("run"), 2);
    let link = root.path().join("latest");
    symlink(root.path().join("run"), &link).unwrap();
    assert_eq!(read(&link).unwrap(), events);
    let mut opened = RunWriter::open(&link).unwrap();
    let more = drafted(opened.writer.blobs(), 7);
    opened.writer.append(&more, 9).unwrap();
    opened.writer.close().unwrap();
    assert_eq!(read(&link).unwrap().len(), events.len() + 1);
}

#[test]
fn files_are_replaced_and_links_are_not_followed() {
    let root = scratch();
    let folder = root.path();
    replace_file(folder, "best.c", b"one").unwrap();
    replace_file(folder, "best.c", b"two").unwrap();
    assert_eq!(fs::read(folder.join("best.c")).unwrap(), b"two");
    for kind in KINDS {
        let victim = folder.join(format!("victim {kind}"));
        let name = format!("report {kind}.html");
        put(kind, &folder.join(&name), &victim);
        let error = replace_file(folder, &name, b"page").unwrap_err();
        assert!(
            matches!(error, StoreError::NotPlain { .. }),
            "{kind}: {error}"
        );
        assert_eq!(fs::read_to_string(&victim).unwrap(), PRECIOUS, "{kind}");
        if kind != "second name" {
            assert!(read_file(folder, &name, 100).is_err(), "{kind}");
        }
    }
    assert_eq!(read_file(folder, "absent", 100).unwrap(), None);
    assert_eq!(read_file(folder, "best.c", 3).unwrap().unwrap(), b"two");
    let error = read_file(folder, "best.c", 2).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
    // Nothing half written is left behind.
    let left = fs::read_dir(folder).unwrap().flatten();
    let left: Vec<PathBuf> = left.map(|it| it.path()).collect();
    assert!(
        !left.iter().any(|it| it.to_string_lossy().ends_with(".new")),
        "{left:?}"
    );
}

/// Makes a run and changes its database by `sql`, which may change the schema.
fn meddled(folder: &Path, sql: &str) {
    create(folder, 3);
    let connection = rusqlite::Connection::open(folder.join("run.sqlite")).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = DELETE")
        .unwrap();
}

const ENDLESS: &str = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)";

#[test]
fn a_database_with_anything_but_the_tables_of_a_run_is_refused() {
    let root = scratch();
    let row = "SELECT n AS seq, 0 AS at_ms, 0 AS elapsed_ms, 'started' AS kind, NULL AS task, '{}' AS body, x'00' AS chain FROM r";
    let cases = [
        ("view", format!("DROP TABLE events; CREATE VIEW events AS {ENDLESS} {row}"), "`events` is no table"),
        ("view that ends never without a row", format!("DROP TABLE events; CREATE VIEW events AS {ENDLESS} SELECT * FROM ({row}) WHERE seq < 0"), "`events` is no table"),
        ("view of what is safe", format!("DROP TABLE safe; CREATE VIEW safe AS {ENDLESS} SELECT n AS seq FROM r"), "`safe` is no table"),
        ("trigger", format!("CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events WHERE seq IN ({ENDLESS} SELECT n FROM r); END"), "it holds the trigger `t`, which no run has"),
        ("index", "CREATE INDEX i ON events (length(body))".to_owned(), "it holds the index `i`"),
        ("more tables", "CREATE TABLE a (b)".to_owned(), "it holds the table `a`"),
        ("other columns", "ALTER TABLE events ADD COLUMN more TEXT DEFAULT 'x'".to_owned(), "the table `events` is another one"),
        ("generated column", "DROP TABLE safe; CREATE TABLE safe (seq INTEGER GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL, x)".to_owned(), "the table `safe` is another one"),
        ("check", "DROP TABLE safe; CREATE TABLE safe (seq INTEGER NOT NULL CHECK (length(randomblob(1000000000)))) STRICT".to_owned(), "the table `safe` is another one"),
        ("virtual table", "DROP TABLE events; CREATE VIRTUAL TABLE events USING fts5(seq, body)".to_owned(), "is another one"),
        ("thousands of views", (0..3000).map(|n| format!("CREATE VIEW v{n} AS SELECT 1;")).collect(), "it holds the view `v0`"),
        ("no table", "DROP TABLE events; DROP TABLE safe".to_owned(), "there is no table `events`"),
        ("escapes in names", "CREATE TABLE \"\u{1b}[2J\u{7}\" (b)".to_owned(), "it holds the table `[2J`"),
    ];
    for (name, sql, reason) in cases {
        let folder = root.path().join(name);
        meddled(&folder, &sql);
        for error in [
            read(&folder).map(|_| ()).unwrap_err(),
            RunWriter::open(&folder).map(|_| ()).unwrap_err(),
        ] {
            let StoreError::Corrupt { reason: found, .. } = &error else {
                panic!("{name}: {error}")
            };
            assert!(found.contains(reason), "{name}: {found}");
        }
    }
}

/// Rows of other kinds than a run writes, or of sizes that nobody can hold.
#[test]
fn rows_that_no_run_writes_are_refused() {
    let root = scratch();
    for (name, sql) in [
        (
            "long",
            "UPDATE events SET body = hex(zeroblob(9000000)) WHERE seq = 2",
        ),
        ("years ago", "UPDATE events SET at_ms = -1 WHERE seq = 2"),
        (
            "far ahead",
            "UPDATE events SET elapsed_ms = 9223372036854775807 WHERE seq = 2",
        ),
        ("no chain", "UPDATE events SET chain = x'' WHERE seq = 2"),
        (
            "safe for ever",
            "DELETE FROM events; UPDATE safe SET seq = 9223372036854775807",
        ),
    ] {
        let folder = root.path().join(name);
        meddled(&folder, sql);
        let error = RunWriter::open(&folder).map(|_| ()).unwrap_err();
        let is_named = matches!(
            error,
            StoreError::Corrupt { .. } | StoreError::NotStarted { .. }
        );
        assert!(is_named, "{name}: {error}");
    }
}

/// A rollback journal can name a file that SQLite deletes after playing it back.
#[test]
fn a_rollback_journal_that_names_another_file_is_refused() {
    let root = scratch();
    let folder = root.path().join("run");
    create(&folder, 2);
    let victim = root.path().join("victim");
    fs::write(&victim, PRECIOUS).unwrap();
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0; 504]);
    // The page of the lock, which has no number, the name, its length, its sum, and the end.
    journal.extend(0x4000_0001u32.to_be_bytes());
    journal.extend(name);
    journal.extend((name.len() as u32).to_be_bytes());
    let sum = name
        .iter()
        .map(|byte| *byte as i8 as i32)
        .fold(0i32, i32::wrapping_add);
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(folder.join("run.sqlite-journal"), journal).unwrap();
    let error = RunWriter::open(&folder).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("names another file"), "{error}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), PRECIOUS);
}

#[test]
fn a_database_of_gigabytes_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    create(&folder, 2);
    let file = fs::File::options()
        .write(true)
        .open(folder.join("run.sqlite"))
        .unwrap();
    // Without taking the room: the file has a hole.
    file.set_len(5 << 30).unwrap();
    let error = read(&folder).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
}

//! The fastest kernel known, kept for other processes.

use autocomp_core::ContentHash;
use autocomp_measuring::SharedBase;

#[test]
fn what_is_kept_is_found_by_its_key_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let [key, other] = ["a", "b"].map(|text| ContentHash::of(text.as_bytes()));
    let base = SharedBase {
        source: "void solution() {}".into(),
        call_ns: 12.5,
        baseline_ns: 100.0,
        noise: 0.01,
        timed_at: SharedBase::now(),
    };
    base.write(folder.path(), &key);
    assert_eq!(SharedBase::read(folder.path(), &key), Some(base));
    assert_eq!(SharedBase::read(folder.path(), &other), None);
    SharedBase::forget(folder.path(), &key);
    assert_eq!(SharedBase::read(folder.path(), &key), None);
}

#[test]
fn costs_that_are_none_are_not_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = ContentHash::of(b"a");
    let base = SharedBase {
        source: String::new(),
        call_ns: 0.0,
        baseline_ns: 1.0,
        noise: 0.0,
        timed_at: SharedBase::now(),
    };
    base.write(folder.path(), &key);
    assert_eq!(SharedBase::read(folder.path(), &key), None);
}

#[test]
fn what_was_changed_on_the_disk_or_is_old_is_not_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = ContentHash::of(b"a");
    let base = SharedBase {
        source: "void solution() {}".into(),
        call_ns: 12.5,
        baseline_ns: 100.0,
        noise: 0.01,
        timed_at: SharedBase::now(),
    };
    for timed_at in [base.timed_at - 13 * 3600, base.timed_at + 3600] {
        let other = SharedBase {
            timed_at,
            ..base.clone()
        };
        other.write(folder.path(), &key);
        assert_eq!(SharedBase::read(folder.path(), &key), None);
    }
    base.write(folder.path(), &key);
    let mut files = Vec::new();
    let mut folders = vec![folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    assert_eq!(files.len(), 1, "{files:?}");
    let bytes = std::fs::read(&files[0]).expect("a file");
    let at = bytes
        .windows(4)
        .position(|it| it == b"12.5")
        .expect("the cost");
    let mut changed = bytes.clone();
    changed[at] = b'0';
    std::fs::write(&files[0], changed).expect("a file");
    assert_eq!(SharedBase::read(folder.path(), &key), None);
}

//! The fastest kernel known, kept for other processes.

use autocomp_core::ContentHash;
use autocomp_host::inside::SharedBase;

#[test]
fn what_is_kept_is_found_by_its_key_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let [key, other] = ["a", "b"].map(|text| ContentHash::of(text.as_bytes()));
    let base = SharedBase {
        source: "void solution() {}".into(),
        call_ns: 12.5,
        baseline_ns: 100.0,
        noise: 0.01,
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
    };
    base.write(folder.path(), &key);
    assert_eq!(SharedBase::read(folder.path(), &key), None);
}

//! Stores of files that processes share.

use autocomp_core::ContentHash;
use autocomp_eval::{CachePart, FileStore};
use proptest::prelude::*;
use std::fs::File;
use std::time::{Duration, SystemTime};

#[test]
fn a_store_that_cannot_be_written_is_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("written");
    let store = FileStore::new(&file, CachePart::Builds);
    let key = ContentHash::of(b"key");
    store.put(&key, b"payload");
    assert_eq!(store.get(&key), None);
}

#[test]
fn an_entry_in_the_place_of_another_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = FileStore::new(folder.path(), CachePart::Builds);
    let [one, other] = [b"one", b"two"].map(|text| ContentHash::of(text));
    store.put(&one, b"of one");
    store.put(&other, b"of the other");
    std::fs::copy(store.path(&one), store.path(&other)).expect("copied");
    assert_eq!(store.get(&other), None);
    assert_eq!(store.get(&one).as_deref(), Some(b"of one".as_slice()));
}

#[test]
fn what_was_not_used_for_longest_makes_way() {
    const ENTRY: usize = 1000;
    let folder = tempfile::tempdir().expect("a folder");
    let most_bytes = 20 * (ENTRY as u64 + 32);
    let store = || FileStore::bounded(folder.path().to_owned(), most_bytes);
    let key = |idx: u64| ContentHash::of(&idx.to_le_bytes());
    let (first, begun) = (store(), SystemTime::now() - Duration::from_secs(86_400));
    for idx in 0..20 {
        first.put(&key(idx), &[1; ENTRY]);
        let file = File::options().append(true).open(first.path(&key(idx)));
        let time = begun + Duration::from_secs(60 * idx);
        file.expect("stored").set_modified(time).expect("set");
    }
    // Using the oldest ones keeps them.
    for idx in 0..4 {
        assert!(first.get(&key(idx)).is_some());
    }
    let foreign = folder.path().join("photograph");
    std::fs::write(&foreign, vec![0; most_bytes as usize]).expect("written");
    // Too large an entry does not drive out the others.
    first.put(&key(100), &vec![0; most_bytes as usize / 2]);
    assert!(first.get(&key(100)).is_none());
    // Another process, which begins by looking at what there is.
    store().put(&key(20), &[1; ENTRY]);
    assert!(foreign.exists());
    let left: Vec<u64> = (0..=20)
        .filter(|idx| first.path(&key(*idx)).exists())
        .collect();
    assert_eq!(
        left,
        [0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    );
}

proptest! {
    #[test]
    fn entries_return_whole_or_not_at_all(
        payload in proptest::collection::vec(any::<u8>(), 0..200),
        damage in proptest::option::of((any::<prop::sample::Index>(), 1..=255_u8)),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = FileStore::new(folder.path(), CachePart::Builds);
        let key = ContentHash::of(b"key");
        prop_assert_eq!(store.get(&key), None);
        store.put(&key, &payload);
        let path = store.path(&key);
        let mut bytes = std::fs::read(&path).expect("written");
        let whole = bytes.clone();
        if let Some((at, flip)) = damage {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        std::fs::write(&path, &bytes).expect("written");
        prop_assert_eq!(store.get(&key), (bytes == whole).then_some(payload));
    }
}

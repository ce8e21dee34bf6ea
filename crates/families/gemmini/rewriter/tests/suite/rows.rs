//! Sets of rows of local memories.

use autocomp_gemmini_rewriter::inside::RowSet;

#[test]
fn shifting_moves_every_row() {
    let mut set = RowSet::empty(1024);
    for row in [0, 63, 64, 200] {
        set.insert(row);
    }
    let moved = set.shifted(70, 1024).expect("in range");
    assert_eq!(moved.iter().collect::<Vec<_>>(), [70, 133, 134, 270]);
    assert_eq!(moved.shifted(-70, 1024), Some(set.clone()));
    assert_eq!(set.shifted(-1, 1024), None);
    assert_eq!(set.shifted(824, 1024), None);
}

#[test]
fn rows_and_parts_are_those_that_were_inserted() {
    for rows in [
        vec![],
        vec![0],
        vec![63, 64, 65, 127],
        vec![5, 300, 301, 511, 512, 1023],
        (0..1024).collect(),
    ] {
        let mut set = RowSet::empty(1024);
        rows.iter().for_each(|row| set.insert(*row));
        assert_eq!(set.iter().collect::<Vec<_>>(), rows);
        for length in [1, 7, 16, 64, 100, 256, 2048] {
            let parts = rows.iter().map(|row| 1u64 << (row / length).min(63));
            assert_eq!(set.parts(length), parts.fold(0, |all, part| all | part));
        }
    }
}

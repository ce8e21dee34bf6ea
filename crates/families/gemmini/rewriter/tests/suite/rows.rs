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

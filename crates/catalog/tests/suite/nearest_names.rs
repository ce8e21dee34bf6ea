//! Names that were meant.

use autocomp_catalog::inside::{edits, nearest};

#[test]
fn edit_distance() {
    assert_eq!(edits("kitten", "sitting"), 3);
    assert_eq!(edits("", "abc"), 3);
    assert_eq!(edits("abc", "abc"), 0);
}

#[test]
fn nearest_name_ignores_the_group_and_gives_up_on_strangers() {
    let known = ["toy/gemm-512x512x512", "toy/gemm-784x1024x256"];
    assert_eq!(
        nearest("gemm-512x512x51", known.into_iter()),
        Some(known[0])
    );
    assert_eq!(
        nearest("tou/gemm-784x1024x256", known.into_iter()),
        Some(known[1])
    );
    assert_eq!(nearest("softmax", known.into_iter()), None);
    assert_eq!(nearest("", known.into_iter()), None);
}

#[test]
fn the_beginning_of_a_name_finds_it() {
    let known = [
        "toy-int8-32/gemm-512x512x512",
        "toy/gemm-512x512x512",
        "toy/gemm-784x1024x256",
    ];
    for name in ["gemm-512", "GEMM512", "toy/gemm512", "gemm_512x"] {
        assert_eq!(nearest(name, known.into_iter()), Some(known[1]), "{name}");
    }
    assert_eq!(nearest("toy", known.into_iter()), None);
}

#[test]
fn most_of_a_name_finds_it_and_the_shortest_group_wins() {
    let known = ["toy-int8-32/gemm-512x512x512", "toy/gemm-512x512x512"];
    for name in ["gemm-512x512x512", "512x512x512"] {
        assert_eq!(nearest(name, known.into_iter()), Some(known[1]), "{name}");
    }
    assert_eq!(nearest("gemm", known.into_iter()), None);
}

//! Libraries that kernels are compared with.

use autocomp_native::library::find as find_library;

#[test]
fn who_wants_a_library_that_is_not_there_is_told_how_to_install_it() {
    let found = find_library("libnobody-has-it.so.7").expect_err("not there");
    assert_eq!(found.message, "libnobody-has-it.so.7 is not installed");
    let remedy = found.remedy.expect("a remedy");
    assert!(remedy.contains("apt-get install libopenblas0"), "{remedy}");
}

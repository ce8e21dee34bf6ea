//! What is wrong with a file before it is a kernel.

use autocomp_core::{Flaw, Language};
use autocomp_trainium_family::PythonNki;

#[test]
fn flaws_are_told_apart() {
    let flaw = |source| PythonNki.flaw(source, "solution");
    assert_eq!(flaw("def solution(a):\n    return a\n"), None);
    assert_eq!(flaw("def other(a):\n    return a\n"), Some(Flaw::NoEntry));
    assert_eq!(
        flaw("def solution(a):\n    return (a\n"),
        Some(Flaw::Incomplete)
    );
    assert_eq!(flaw("def solution(a):\n"), Some(Flaw::Incomplete));
}

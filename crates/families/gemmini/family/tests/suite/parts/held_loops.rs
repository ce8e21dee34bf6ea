//! Loops that are held up.

use autocomp_gemmini::timing::Unit;
use autocomp_gemmini_family::inside::{Held, HeldForward};

#[test]
fn moves_that_wait_for_others_are_not_the_reason() {
    let span = |start, end, working| Held {
        start,
        end,
        pc: start,
        working,
    };
    let loads = [span(10, 20, false), span(20, 30, true)];
    let stores = [span(5, 25, true), span(25, 40, false)];
    let mut held = HeldForward::new(&loads, &stores);
    let mut found = Vec::new();
    let mut at = 0;
    while at < 40 {
        let (unit, until) = held.at(at, Unit::Load);
        found.push((at, unit.map(|(unit, _)| unit)));
        at = until;
    }
    let expected = [
        (0, None),
        (5, Some(Unit::Store)),
        (10, Some(Unit::Store)),
        (20, Some(Unit::Load)),
        (25, Some(Unit::Load)),
        (30, Some(Unit::Store)),
    ];
    assert_eq!(found, expected);
    assert_eq!(held.at(40, Unit::Load), (None, u64::MAX));
}

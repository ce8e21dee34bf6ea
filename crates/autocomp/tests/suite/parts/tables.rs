//! Tables of text.

use autocomp::inside::{Cell, GOOD, Table};

#[test]
fn tables_fit_and_are_coloured_on_demand() {
    let table = Table {
        head: &["name", "cost", "plan"],
        right: &[1],
        flexible: &[2],
        optional: &[1],
    };
    let rows = [vec![
        Cell::from("c1").styled(GOOD),
        Cell::from("83,138"),
        Cell::from("Interchange the loops `i` and `j`."),
    ]];
    let narrow = table.text(&rows, Some(30), false);
    assert_eq!(
        narrow,
        "name    cost  plan\nc1    83,138  Interchange the…\n"
    );
    assert!(narrow.lines().all(|line| line.chars().count() <= 30));
    let narrower = table.text(&rows, Some(22), false);
    assert_eq!(narrower, "name  plan\nc1    Interchange the…\n");
    let narrowest = table.text(&rows, Some(14), false);
    assert_eq!(narrowest, "name  plan\nc1    Interch…\n");
    let coloured = table.text(&rows, None, true);
    assert!(coloured.contains("\x1b[32mc1\x1b[0m  "));
    assert!(coloured.contains("`i` and `j`."));
}

//! Names of new loops.

use autocomp_c_loops::change::fresh_name;

#[test]
fn parts_of_parts_have_short_names() {
    let taken = ["i".to_owned(), "io".to_owned(), "j_o".to_owned()];
    for (variable, outer, inner) in [
        ("i", "i_o", "i_i"),
        ("i_o", "i_oo", "i_oi"),
        ("i_oi", "i_oio", "i_oii"),
        ("j", "j_oo", "j_i"),
        ("io", "io_o", "io_i"),
        ("row_", "row__o", "row__i"),
    ] {
        assert_eq!(fresh_name(variable, "o", &taken), outer);
        assert_eq!(fresh_name(variable, "i", &taken), inner);
    }
}

//! The form in which kernels are compared.

use autocomp_trainium_family::inside::normal_form;
use proptest::prelude::{prop_assert_eq, proptest};

#[test]
fn comments_and_empty_lines_do_not_count() {
    let plain = "def f(a):\n    b = '#' + \"\"\"x\n\n  # y\n\"\"\"\n    return b";
    let other = "# why\ndef f(a):  # what\n\n    b = '#' + \"\"\"x\n\n  # y\n\"\"\"  \n    \n    return b\n";
    assert_eq!(normal_form(other), plain);
    assert_ne!(normal_form("    a = 1"), normal_form("  a = 1"));
    assert_ne!(normal_form("a = '# 1'"), normal_form("a = '# 2'"));
}

proptest! {
    #[test]
    fn it_is_its_own_form(text in "[a-z #'\"\n]*") {
        let form = normal_form(&text);
        prop_assert_eq!(normal_form(&form), form);
    }
}

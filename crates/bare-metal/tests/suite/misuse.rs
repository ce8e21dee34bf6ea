//! The function that a message is about.

use autocomp_bare_metal::Misuse;
use autocomp_core::{Diagnostic, SourceLocation, Stage};

#[test]
fn the_called_function_is_found_from_the_place_of_its_arguments() {
    let source = "int x;\nint y = add(twice(x), (x + 1), 3);\nint é = sub(x,\n  x, 3);\n";
    let cases = [
        ((2, Some(9)), None),
        ((2, Some(13)), Some("add")),
        ((2, Some(19)), Some("twice")),
        ((2, Some(23)), Some("add")),
        ((2, Some(32)), Some("add")),
        ((4, Some(6)), Some("sub")),
        ((4, None), None),
        ((9, Some(1)), None),
        ((1, Some(0)), None),
    ];
    for ((line, column), expected) in cases {
        let location = SourceLocation {
            file: "kernel.c".into(),
            line,
            column,
        };
        let found = Diagnostic {
            location: Some(location),
            ..Diagnostic::error(
                Stage::Test,
                "compile-error",
                "too many arguments to function call",
            )
        };
        let expected = expected.map(Misuse::TooManyArguments);
        assert_eq!(Misuse::of(&found, source), expected, "{line}:{column:?}");
    }
}

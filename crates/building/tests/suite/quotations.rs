//! Quotations of documents with links and tables.

use super::file;
use autocomp_building::{Citation, Flaw, Limits, Part, Statement, read_documents};
use std::collections::BTreeSet;

/// Returns why a statement is dropped that quotes a document.
fn flaw(name: &str, document: &str, quote: &str) -> Option<Flaw> {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), name, document);
    let documents = read_documents(&[path], &Limits::standard()).unwrap();
    let id = &documents.passages[0].id;
    let statement = Statement {
        text: "It does so.".to_owned(),
        cites: vec![Citation {
            id: id.clone(),
            quote: quote.to_owned(),
        }],
        ..Statement::default()
    };
    let shown = BTreeSet::from([id.as_str()]);
    let checked = statement.checked(Part::Architecture, &documents, &shown);
    checked.err()
}

#[test]
fn links_and_cells_are_quoted_as_people_see_them() {
    let markdown = "| name | moves |\n|---|---|\n| [`ldin`](isa.md#ldin \"loads\") | rows of [a tile](<t.md>) into ![the](b.png) rowbuffers |\n";
    let html = "<table><tr><td><a href='isa.html'><code>ldin</code></a>: moves<td>rows of <a href=t>a tile</a>, at most</table>";
    for (name, document, quote) in [
        (
            "a.md",
            markdown,
            "ldin | rows of a tile into the rowbuffers",
        ),
        ("a.md", markdown, "| `ldin` | rows of a tile"),
        ("a.md", markdown, "ldin rows of a tile into"),
        (
            "a.md",
            markdown,
            "| [`ldin`](isa.md#ldin \"loads\") | rows of [a tile]",
        ),
        ("a.html", html, "ldin: moves | rows of a tile, at most"),
        (
            "a.md",
            "call `table[i](left, right)` first",
            "table[i](left",
        ),
        ("a.md", "call `table[i](left)` first", "call table[i]("),
    ] {
        assert_eq!(flaw(name, document, quote), None, "{quote}");
    }
    for quote in ["ldin rows of two tiles", "isa.md#ldin ldin rows"] {
        let found = flaw("a.md", markdown, quote);
        assert_eq!(found, Some(Flaw::NotInPassage), "{quote}");
    }
}

/// What prompts ask for is enough: three words, twelve letters, or a whole line.
#[test]
fn rows_of_tables_are_long_enough_to_be_quoted() {
    let table = "| op | rows | cycles |\n|---|---|---|\n| load | 4 | 16 |\n| fence | | - |\n\nThe end of it.\n";
    for quote in [
        "load | 4 | 16",
        "| load | 4 | 16 |",
        "fence | | -",
        "end of it",
    ] {
        assert_eq!(flaw("a.md", table, quote), None, "{quote}");
    }
    for quote in ["fence", "of it", "| | -"] {
        assert_eq!(flaw("a.md", table, quote), Some(Flaw::TooShort), "{quote}");
    }
}

#[test]
fn words_divided_at_the_ends_of_lines_are_quoted_whole() {
    let text = "It fills the frame-\nwork, then the write-\nback buffer of it.\n";
    for quote in [
        "fills the framework, then",
        "the write-back buffer",
        "the frame- work, then",
    ] {
        assert_eq!(flaw("a.txt", text, quote), None, "{quote}");
    }
}

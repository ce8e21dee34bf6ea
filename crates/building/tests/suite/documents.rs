//! What becomes of documents.

use super::{file, pdf};
use autocomp_building::{Documents, Limits, Place, read_documents};
use proptest::prelude::*;
use std::path::Path;
use tempfile::TempDir;

fn read(folder: &Path) -> Documents {
    read_documents(&[folder.to_owned()], &Limits::standard()).unwrap()
}

/// Reads one file, and returns heading, place and text of each passage.
fn read_one(name: &str, content: impl AsRef<[u8]>) -> Vec<(String, Place, String)> {
    let place = TempDir::new().unwrap();
    let path = file(place.path(), name, content);
    let documents = read_documents(&[path], &Limits::standard()).unwrap();
    let passages = documents.passages.into_iter();
    passages.map(|it| (it.heading, it.place, it.text)).collect()
}

fn passage(heading: &str, place: Place, text: &str) -> (String, Place, String) {
    (heading.to_owned(), place, text.to_owned())
}

#[test]
fn markdown_has_headings_code_and_tables() {
    let text = "---\nname: x\n---\n\n# One\n\nIt is\nso.\n<!-- obey\nme -->\n\n## Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\n# no heading\n\ncopy(a);\n```\n\nThree\n=====\n\nEnd.\n";
    assert_eq!(
        read_one("a.md", text),
        [
            passage("", Place::Lines(1, 3), "---\nname: x\n---"),
            passage("One", Place::Lines(7, 8), "It is\nso."),
            passage(
                "One > Two",
                Place::Lines(14, 22),
                "| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\n# no heading\n\ncopy(a);\n```"
            ),
            passage("Three", Place::Lines(27, 27), "End."),
        ]
    );
}

#[test]
fn html_is_what_people_see() {
    let text = "<html><head><title>T</title><style>p{}</style></head><body><nav><a>menu</a></nav>\n\
        <h1>One &amp; <b>two</b></h1><p>It costs&nbsp;16 cycles\nper <i>tile</i>.<p style=\"display: none\">obey me</p>\n\
        <table><tr><th>name<th>cost<tr><td><p>load</p></td><td>3</td></tr>\
        <tr><td><a href=\"x.html\"><code>store</code></a>, <b>w</b>ait<td><a href=y>4</a>.</table>\n\
        <ul><li>first<li>second</ul><pre>for (;;) {\n  x &lt; 1;\n}</pre><script>if (a < b) {}</script>\n\
        <!-- obey me --><p hidden>obey me</p><p>a < b";
    assert_eq!(
        read_one("a.html", text),
        [
            passage("", Place::Lines(1, 1), "T"),
            passage(
                "One & two",
                Place::Lines(2, 8),
                "It costs 16 cycles per tile.\n\nname | cost\nload | 3\nstore, wait | 4.\n\n- first\n\n- second\n\nfor (;;) {\n  x < 1;\n}\n\na < b"
            ),
        ]
    );
}

#[test]
fn markdown_has_what_people_see_of_it() {
    let read = |text: &str| {
        let passages = read_one("a.md", text).into_iter();
        passages.map(|it| it.2).collect::<Vec<_>>().join("\n\n")
    };
    for seen in [
        "It is seen.",
        "Use `<div hidden>` for it.\n\nAnd this.",
        "```html\n<div hidden>\n```\n\nAnd this.",
        "~~~\n<p style=\"display:none\">\n~~~\n\nAnd this.",
        "Loads <object> of vector<int>, a < b.\n\nAnd this.",
        "[7:0]: opcode (8 bits)",
        "```\n[//]: # (a remark)\n```",
        "A `tick, <b>and</b> so on ~ about.",
        "<div class=\"x\">It is seen.</div>",
        "The <script> tag.",
    ] {
        assert_eq!(read(seen), seen, "{seen}");
    }
    for hidden in [
        "<div style=\"display:none\">\n\nobey\n\n```\nobey\n```\n</div>",
        "<span hidden>obey <b>me</b></span>",
        "<p hidden>obey\nme",
        "[//]: # (obey)",
        "[x]: <> \"obey\"",
        "<script>\nobey()\n</script>",
    ] {
        let read = read(&format!("It is seen.\n\n{hidden}\n\nAnd this."));
        assert_eq!(read, "It is seen.\n\nAnd this.", "{hidden}");
    }
    // Code ends where its fence does, in a quotation, too.
    let quoted = "> ```\n> x\n> ```";
    let text = format!("{quoted}\n\n<p hidden>obey\n\nIt is seen.");
    assert_eq!(read(&text), format!("{quoted}\n\nIt is seen."));
}

/// Cells reach over rows and columns, and may be empty.
#[test]
fn cells_of_html_tables_stay_in_their_columns() {
    let text = "<table><tr><th>command<th colspan=2>cycles</tr>\
        <tr><td rowspan=2>matmul</td><td>bf16</td><td>16</td></tr>\
        <tr><td>fp32</td><td>64</td></tr>\
        <tr><td></td><td>any</td><td rowspan=0>4</td></tr>\
        <tr><td>load<td>any</tr></table>";
    assert_eq!(
        page(text),
        [(
            String::new(),
            "command | cycles |\nmatmul | bf16 | 16\nmatmul | fp32 | 64\n| any | 4\nload | any | 4"
                .to_owned()
        )]
    );
}

/// Returns headings and texts of a page.
fn page(text: &str) -> Vec<(String, String)> {
    let passages = read_one("a.html", text).into_iter();
    passages.map(|(heading, _, text)| (heading, text)).collect()
}

#[test]
fn no_more_of_a_page_is_hidden_than_its_tags_say() {
    for seen in [
        "<div style=\"overflow: hidden\">It is seen.</div>",
        "<p style=\"font-size:0.9em\">It is seen.</p>",
        "<div class=\"col hidden-print\">It is seen.</div>",
        "<div data-x=\"a hidden b\" title='display:none'>It is seen.</div>",
        "<p style=\"background-color: white\">It is seen.",
        "<p hidden>obey<p>It is seen.",
        "<ul><li hidden>obey</ul><p>It is seen.",
        "<dl><dt hidden>obey<dd>It is seen.</dl>",
        "<form><select><option>obey</form><p>It is seen.",
        "<div><section hidden>obey</div><p>It is seen.",
        "<table><tr><td hidden>obey<td>It is seen.</table>",
        "<script>var a = \"<script>\";</script><p>It is seen.",
        "<svg><path d=1/><g><path/></g></svg><p>It is seen.",
        "<?xml version='1.0'?><html><script src='a'/><p>It is seen.</p></html>",
        "<p hidden>obey</b></p>It is seen.",
    ] {
        let read = page(seen);
        let [(_, text)] = &read[..] else {
            panic!("{seen}: {read:?}");
        };
        assert_eq!(text.trim_start_matches("- "), "It is seen.", "{seen}");
    }
    for hidden in [
        "<div hidden>obey</p></i></td></div>",
        "<div hidden><table><td>x</div>obey</table></div>",
        "<p style='DISPLAY : none !important'>obey</p>",
        "<div hidden=\"\"><div>x</div>obey</div>",
        "<p class='a SR-only'>obey</p>",
        "<p style='opacity:0;left:0'>obey",
        "<template><p>obey</template>",
    ] {
        let read = page(&format!("<p>It is seen.</p>{hidden}"));
        assert_eq!(
            read,
            [(String::new(), "It is seen.".to_owned())],
            "{hidden}"
        );
    }
}

#[test]
fn powers_and_indices_are_no_other_numbers() {
    for (written, read) in [
        ("It has 2<sup>10</sup> rows.", "It has 2^10 rows."),
        ("log<sub>2</sub>8 is 3.", "log_2 8 is 3."),
        ("x <sup>1</sup>", "x 1"),
        (
            "<math><msup><mi>x</mi><mn>10</mn></msup><mo>+</mo><mn>1</mn></math>",
            "x^10+1",
        ),
        (
            "<math><msup><mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow><mn>2</mn></msup></math>.",
            "(x)^2.",
        ),
        (
            "<math alttext=\"2^{10}\"><msup><mn>2</mn><mn>10</mn></msup></math> rows",
            "2^10 rows",
        ),
        (
            "<math><semantics><msub><mi>a</mi><mn>1</mn></msub><annotation>a_1</annotation></semantics></math>",
            "a_1",
        ),
    ] {
        assert_eq!(
            page(written),
            [(String::new(), read.to_owned())],
            "{written}"
        );
    }
}

#[test]
fn headings_end_where_something_else_begins() {
    let expected = |heading: &str, text: &str| vec![(heading.to_owned(), text.to_owned())];
    for whole in [
        "<h1>Guide<p>It is text.",
        "<h1>Guide</h1>It is text.",
        "<h1><div>Guide</div></h1><div>It is text.</div>",
        "<div><h1>Guide</div>It is text.",
        "<h1>Guide</h2><p>It is text.</p>",
    ] {
        assert_eq!(page(whole), expected("Guide", "It is text."), "{whole}");
    }
    let two = "<h1>Guide<h2>Part<p>It is text.";
    assert_eq!(page(two), expected("Guide > Part", "It is text."));
}

#[test]
fn notebooks_and_programs_and_text() {
    let notebook = r##"{"cells": [
        {"cell_type": "markdown", "source": ["# Load\n", "\n", "It loads."]},
        {"cell_type": "code", "source": "load(x)", "outputs": [{"text": "obey"}]}
    ]}"##;
    // Small pieces below one heading are one passage.
    assert_eq!(
        read_one("a.ipynb", notebook),
        [passage("Load", Place::Cell(1), "It loads.\n\nload(x)")]
    );
    let program: String = (0..70).map(|it| format!("line{it};\n")).collect();
    let passages = read_one("a.c", program);
    assert_eq!(passages[0].1, Place::Lines(1, 70));
    assert_eq!(
        read_one("a.txt", "Title\n=====\nIt is so.\n\nAnd so.\n"),
        [passage("Title", Place::Lines(3, 5), "It is so.\n\nAnd so.")]
    );
}

#[test]
fn pages_have_headings_paragraphs_and_tables() {
    let bytes = pdf::made(&[
        &[
            (20, 72, 780, "The machine"),
            (10, 72, 750, "It has a row buffer"),
            (10, 72, 738, "of 256 KiB."),
            (10, 72, 700, "command"),
            (10, 250, 700, "cycles"),
            (10, 72, 688, "load"),
            (10, 250, 688, "18"),
            (10, 290, 30, "1"),
        ],
        &[
            (14, 72, 780, "Loads"),
            (10, 72, 750, "A load takes 18 cycles."),
            (10, 290, 30, "2"),
        ],
    ]);
    assert_eq!(
        read_one("a.pdf", bytes),
        [
            passage(
                "The machine",
                Place::Pages(1, 1),
                "It has a row buffer\nof 256 KiB.\n\ncommand | cycles\nload | 18"
            ),
            passage(
                "The machine > Loads",
                Place::Pages(2, 2),
                "A load takes 18 cycles."
            ),
        ]
    );
}

/// Headings are as wide as their columns, so that they stand as close as words, or closer.
#[test]
fn headings_of_narrow_columns_stay_apart() {
    let text = |lines| {
        let found = read_one("a.pdf", pdf::made(&[lines]));
        let texts: Vec<String> = found.into_iter().map(|it| it.2).collect();
        texts.join("\n\n")
    };
    // At the left of their columns, with a caption of words at places of their own.
    let left = text(&[
        (10, 72, 712, "Costs"),
        (10, 108, 712, "of"),
        (10, 126, 712, "banks"),
        (10, 72, 700, "Rowbuffers"),
        (10, 133, 700, "Ports"),
        (10, 164, 700, "Cycles"),
        (10, 72, 688, "4"),
        (10, 133, 688, "1"),
        (10, 164, 688, "18"),
        (10, 72, 676, "16"),
        (10, 133, 676, "2"),
        (10, 164, 676, "20"),
    ]);
    assert_eq!(
        left,
        "Costs of banks\nRowbuffers | Ports | Cycles\n4 | 1 | 18\n16 | 2 | 20"
    );
    // In the middle of them.
    let middle = text(&[
        (10, 72, 700, "Rowbuffers"),
        (10, 133, 700, "Resultcells"),
        (10, 99, 688, "4"),
        (10, 163, 688, "1"),
    ]);
    assert_eq!(middle, "Rowbuffers | Resultcells\n4 | 1");
    // Parts of words are no cells.
    let parts = text(&[
        (10, 72, 700, "Band"),
        (10, 96, 700, "width of loads"),
        (10, 72, 688, "load"),
        (10, 250, 688, "18"),
    ]);
    assert_eq!(parts, "Bandwidth of loads\nload | 18");
}

#[test]
fn an_identifier_stays_while_its_passage_does() {
    let place = TempDir::new().unwrap();
    file(place.path(), "a.md", "# A\n\nfirst\n\n# B\n\nsecond\n");
    let before = read(place.path());
    file(
        place.path(),
        "a.md",
        "# A\n\nfirst\n\n# New\n\nbetween\n\n# B\n\nsecond\n",
    );
    file(place.path(), "b.md", "first\n");
    let after = read(place.path());
    assert_eq!(before.passages[0], after.passages[0]);
    assert_eq!(before.passages[1].id, after.passages[2].id);
    assert_eq!(
        after.passages.len(),
        3,
        "what repeats another one is left out"
    );
    assert!(
        after
            .unread
            .iter()
            .any(|it| it == "1 passage that repeats another one")
    );
    assert!(before.passages[0].file.ends_with("/a.md"));
}

#[test]
fn an_index_brings_what_it_names_beside_it() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("site");
    file(&folder, "docs/a.md", "It is so.\n");
    file(place.path(), "secret.md", "It is secret.\n");
    std::os::unix::fs::symlink(place.path(), folder.join("up")).unwrap();
    let index = file(
        &folder,
        "llms.txt",
        "# Site\n\n- [A](docs/a.md#x)\n- [B](docs/none.md)\n- [C](../secret.md)\n- [D](https://there/x.md)\n- [E](/etc/passwd)\n- [F](up/secret.md)\n",
    );
    let documents = read_documents(&[index], &Limits::standard()).unwrap();
    assert_eq!(documents.files, ["llms.txt", "site/docs/a.md"]);
    assert_eq!(
        documents.unread,
        [
            "site/docs/none.md: it is not there, or no document",
            "site/up/secret.md: it is not there, or no document",
            "llms.txt: what it names elsewhere is not fetched (3: ../secret.md, https://there/x.md, /etc/passwd)",
        ]
    );
}

#[test]
fn an_index_in_a_folder_tells_what_it_names_elsewhere() {
    let place = TempDir::new().unwrap();
    file(place.path(), "site/docs/a.md", "It is so.\n");
    file(place.path(), "b.md", "And so.\n");
    let index =
        "# Site\n\n- [A](docs/a.md)\n- [B](../b.md)\n- [C](https://there/c.md)\n- [D](docs/d.md)\n";
    file(place.path(), "site/llms.txt", index);
    let documents = read(place.path());
    assert_eq!(documents.files.len(), 3, "{:?}", documents.files);
    let [missing, elsewhere] = &documents.unread[..] else {
        panic!("{:?}", documents.unread)
    };
    assert_eq!(missing, "site/docs/d.md: it is not there, or no document");
    assert!(
        elsewhere.ends_with(
            "site/llms.txt: what it names elsewhere is not fetched (1: https://there/c.md)"
        ),
        "{elsewhere}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a document holds, passages are of bounded size and clean, and have all its words
    /// that are no marks.
    #[test]
    fn any_text_becomes_passages(
        text in "([a-z<>&;#/=\"'|`*!\\- \n\\[\\]{}]|<(p|td|tr|table|pre|script|h1|li)>|</(p|td|tr|table|pre|script|h1)>|\u{202e}|\r\n){0,400}",
        name in prop::sample::select(vec!["a.md", "a.html", "a.txt", "a.c", "llms.txt"]),
    ) {
        let place = TempDir::new().unwrap();
        let path = file(place.path(), name, &text);
        if let Ok(documents) = read_documents(&[path], &Limits::standard()) {
            for passage in &documents.passages {
                prop_assert!(passage.text.len() <= 8000);
                prop_assert!(!passage.text.trim().is_empty());
                let is_clean = !passage.text.contains(['\r', '\u{202e}']);
                prop_assert!(is_clean);
                prop_assert_eq!(documents.passage(&passage.id), Some(passage));
            }
        }
    }
}

#[test]
fn columns_of_prose_are_read_one_after_the_other() {
    let left = |idx: usize| format!("left {idx} goes on with words of the");
    let right = |idx: usize| format!("right {idx} goes on with words of it");
    let texts: Vec<[String; 2]> = (0..8).map(|idx| [left(idx), right(idx)]).collect();
    let mut lines = vec![(
        10,
        40,
        780,
        "A line that goes over the whole width of the page, from one side to the other",
    )];
    for (idx, [left, right]) in (0_i64..).zip(&texts) {
        lines.push((10, 40, 760 - 12 * idx, left.as_str()));
        // Base lines of the two need not be the same.
        lines.push((10, 310, 757 - 12 * idx, right.as_str()));
    }
    let passages = read_one("a.pdf", pdf::made(&[&lines]));
    let expected: Vec<String> = (0..8).map(left).chain((0..8).map(right)).collect();
    let [(_, _, text)] = &passages[..] else {
        panic!("{passages:?}")
    };
    let (first, columns) = text.split_once('\n').unwrap();
    assert!(first.starts_with("A line"), "{text}");
    assert_eq!(columns.trim_start(), expected.join("\n"));
}

#[test]
fn exponents_and_indices_of_pages_stay_with_their_letters() {
    let bytes = pdf::made(&[&[
        (10, 72, 700, "The limit is 2"),
        (6, 156, 704, "1"),
        (6, 160, 704, "0"),
        (10, 168, 700, "rows in bank b"),
        (6, 252, 698, "i"),
        (10, 260, 700, "of it."),
    ]]);
    let found = read_one("a.pdf", bytes);
    assert_eq!(found[0].2, "The limit is 2^10 rows in bank b_i of it.");
}

/// Letters of composite fonts are wide as the font has it, not as letters usually are.
#[test]
fn exponents_and_words_of_composite_fonts_keep_their_parts() {
    let text = |runs| {
        read_one("a.pdf", pdf::drawn(&pdf::composite(runs)))[0]
            .2
            .clone()
    };
    let exponents = text(&[
        (10.0, 72.0, 700.0, "Beta 2"),
        (6.0, 117.5, 704.0, "1"),
        (6.0, 121.7, 704.0, "4"),
        (10.0, 125.9, 700.0, " rows in file"),
        (10.0, 223.4, 700.0, "s."),
        (10.0, 250.0, 700.0, "On"),
    ]);
    assert_eq!(exponents, "Beta 2^14 rows in files. On");
    let table = text(&[
        (10.0, 72.0, 700.0, "wide name"),
        (10.0, 160.0, 700.0, "operands"),
        (10.0, 240.0, 700.0, "cycles"),
        (10.0, 72.0, 688.0, "load"),
        (10.0, 240.0, 688.0, "100"),
        (10.0, 72.0, 676.0, "store"),
        (10.0, 160.0, 676.0, "2"),
        (10.0, 240.0, 676.0, "200"),
    ]);
    assert_eq!(
        table,
        "wide name | operands | cycles\nload | | 100\nstore | 2 | 200"
    );
}

#[test]
fn letters_that_tell_nothing_are_what_their_mark_says() {
    let page = "BT /F2 10 Tf 1 0 0 1 72 700 Tm <0065> Tj \
        /Span << /ActualText (fi) >> BDC <f001> Tj EMC <0078> Tj \
        /Span << /ActualText (obey) >> BDC <0065> Tj EMC ET";
    assert_eq!(read_one("a.pdf", pdf::drawn(page))[0].2, "efixe");
}

#[test]
fn lines_of_digits_are_left_out_where_they_count_pages() {
    let numbers = [
        (10, 72, 700, "Latencies in their order:"),
        (10, 72, 688, "12 16 24 40"),
        (10, 72, 676, "Rows:"),
        (10, 72, 664, "4096"),
    ];
    let said = "Latencies in their order:\n12 16 24 40\nRows:\n4096";
    // What stands at the bottoms of two pages, and how both are read.
    for (bottoms, read) in [
        (["", ""], ["", ""]),
        (["1", "2"], ["", ""]),
        (["7", "8"], ["", ""]),
        (["7", ""], ["\n\n7", ""]),
        (["7", "7"], ["\n\n7", "\n\n7"]),
    ] {
        let [first, second] = bottoms.map(|it| (10, 290, 30, it));
        let pages = [&numbers[..], &[first]].concat();
        let found = read_one(
            "a.pdf",
            pdf::made(&[&pages, &[(10, 72, 700, "So."), second]]),
        );
        assert_eq!(found[0].2, format!("{said}{}\n\nSo.{}", read[0], read[1]));
    }
}

#[test]
fn forms_of_pages_are_read() {
    let found = read_one("a.pdf", pdf::drawn("q /X1 Do Q"));
    assert_eq!(found[0].2, "It stands in a form.");
}

#[test]
fn turned_letters_are_no_part_of_upright_lines() {
    let page = "BT /F1 10 Tf 0 1 -1 0 102 700 Tm (beside it) Tj \
        1 0 0 1 72 700 Tm (Rows) Tj 1 0 0 1 105 700 Tm (of banks) Tj ET";
    let found = read_one("a.pdf", pdf::drawn(page));
    assert_eq!(found[0].2, "Rows of banks\n\nbeside it");
}

#[test]
fn empty_cells_of_pages_stay_empty() {
    let bytes = pdf::made(&[&[
        (10, 72, 700, "command"),
        (10, 200, 700, "operands"),
        (10, 300, 700, "cycles"),
        (10, 72, 688, "load"),
        (10, 200, 688, "2"),
        (10, 320, 688, "18"),
        (10, 72, 676, "wait"),
        (10, 320, 676, "4"),
        // A row whose only gap is as wide tells nothing of the one above.
        (10, 72, 664, "fence"),
        (10, 200, 664, "1"),
    ]]);
    let found = read_one("a.pdf", bytes);
    assert_eq!(
        found[0].2,
        "command | operands | cycles\nload | 2 | 18\nwait | | 4\nfence | 1"
    );
}

#[test]
fn formulas_and_entities_are_read_as_people_see_them() {
    let text = |html: &str| read_one("a.html", html)[0].2.clone();
    let formula = "<p>It is <math><mfrac><mn>3</mn><mn>4</mn></mfrac><msqrt><mn>2</mn></msqrt>, \
        <mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><msup><mn>2</mn><mn>3</mn></msup></mfrac> or \
        <msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>, \
        <munderover><mo>&sum;</mo><mn>0</mn><mn>9</mn></munderover></math>.";
    assert_eq!(
        text(formula),
        "It is 3/4 sqrt(2), (a+b)/(2^3) or x_1^2, \u{2211}_0^9."
    );
    let entities = "<p>10<sup>&minus;6</sup> of 1&thinsp;024, &frac12; of a frame&shy;work; <s>12</s> 14 cycles";
    assert_eq!(
        text(entities),
        "10^\u{2212}6 of 1 024, \u{bd} of a framework; 14 cycles"
    );
}

#[test]
fn elements_that_their_own_tags_hide_are_left_out() {
    for style in [
        "color:rgba(0,0,0,0)",
        "color:#0000",
        "color:hsla(0,0%,0%,0)",
        "color:#fff;background:#fff",
        "font-size:0.01px",
        "font:0/0 a",
        "height:0;overflow:hidden",
        "width:1px;height:1px;overflow:hidden",
        "clip-path:inset(100%)",
        "transform:scale(0)",
        "content-visibility:hidden",
        "zoom:0",
        "margin-left:-9999px",
        "display:&#110;one",
    ] {
        let html = format!("<p>It is seen.</p><p style='{style}'>obey</p>");
        assert_eq!(read_one("a.html", html)[0].2, "It is seen.", "{style}");
    }
    let html = "<p>It is seen.</p><dialog>obey</dialog><font color=white>obey</font>";
    assert_eq!(read_one("a.html", html)[0].2, "It is seen.");
    for seen in [
        "<section style='background:black'><p style='color:white'>So.</p></section>",
        "<p style='font-size:0.8em;height:0.9em'>So.",
        "<p style='color:rgba(0,0,0,0.9)'>So.",
        "<p style='font:10px/1.2 serif'>So.",
        "<p style='color:#00f'>So.",
    ] {
        assert_eq!(read_one("a.html", seen)[0].2, "So.", "{seen}");
    }
}

#[test]
fn what_people_do_not_see_is_no_evidence() {
    let page = "BT /F1 10 Tf 1 0 0 1 72 700 Tm (It is seen.) Tj \
        3 Tr 1 0 0 1 72 690 Tm (Not drawn.) Tj 0 Tr \
        1 1 1 rg 1 0 0 1 72 680 Tm (White on white.) Tj 0 g \
        1 0 0 1 5000 670 Tm (Off the page.) Tj \
        ET q /G0 gs BT 1 0 0 1 72 655 Tm (Transparent.) Tj ET Q \
        q 0 0 1 1 re W n BT /F1 10 Tf 1 0 0 1 72 652 Tm (Clipped.) Tj ET Q BT \
        /F1 0.5 Tf 1 0 0 1 72 660 Tm (Too small.) Tj ET \
        0 g BT /F1 10 Tf 1 0 0 1 72 620 Tm (Covered.) Tj ET 1 g 60 615 200 20 re f \
        0.98 g BT 1 0 0 1 72 600 Tm (Nearly white.) Tj ET \
        0.1 0.1 0.4 rg 60 640 200 20 re f 1 g \
        BT /F1 10 Tf 1 0 0 1 72 645 Tm (White on blue.) Tj ET";
    assert_eq!(
        read_one("a.pdf", pdf::drawn(page)),
        [passage(
            "",
            Place::Pages(1, 1),
            "It is seen.\n\nWhite on blue."
        )]
    );
    let html = "<p>It is seen.</p><p style=\"opacity: 0\">obey</p><p style='position:absolute; left:-9999px'>obey</p>\
        <p style=\"color: #fff\">obey</p><span class=\"sr-only\">obey</span><p style=\"opacity: 0.9; left: -1px\">And this.</p>\
        <p style=\"color: white; background: navy\">And that.</p>";
    assert_eq!(
        read_one("a.html", html),
        [passage(
            "",
            Place::Lines(1, 1),
            "It is seen.\n\nAnd this.\n\nAnd that."
        )]
    );
}

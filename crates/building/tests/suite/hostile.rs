//! Documents that somebody made to do harm.

use super::{file, pdf};
use autocomp_building::{Documents, Limits, read_documents};
use lopdf::{Stream, dictionary};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

fn read(folder: &Path) -> Documents {
    read_documents(&[folder.to_owned()], &Limits::standard()).unwrap()
}

/// Returns what is said of the one document that is not read.
fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    let place = TempDir::new().unwrap();
    file(place.path(), "good.md", "It is good.\n");
    file(place.path(), name, content);
    let documents = read(place.path());
    assert_eq!(documents.files.len(), 1, "{:?}", documents.files);
    let [line] = documents.unread.as_slice() else {
        panic!("{:?}", documents.unread)
    };
    line.split_once(": ").unwrap().1.to_owned()
}

#[test]
fn links_are_not_followed() {
    let place = TempDir::new().unwrap();
    file(place.path(), "secret/key.md", "It is secret.\n");
    let folder = place.path().join("docs");
    file(&folder, "good.md", "It is good.\n");
    file(&folder, ".hidden.md", "It is hidden.\n");
    symlink("../secret/key.md", folder.join("key.md")).unwrap();
    symlink("../secret", folder.join("folder")).unwrap();
    symlink(".", folder.join("round")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("pipe.md"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    let documents = read(&folder);
    assert_eq!(documents.files, ["docs/good.md"]);
    assert_eq!(
        documents.unread,
        [
            "docs/folder: links are not followed",
            "docs/key.md: links are not followed",
            "docs/pipe.md: it is no file",
            "docs/round: links are not followed",
        ]
    );
}

#[test]
fn what_is_no_text_is_said() {
    assert_eq!(refused("a.md", b"\0\x01\x02"), "it is no text");
    assert_eq!(refused("a.html", "<!-- nothing"), "it has no text");
    assert!(refused("a.ipynb", "{\"cells\"").starts_with("it is no notebook: EOF"));
    let deep = "[".repeat(100_000);
    assert!(refused("a.ipynb", &deep).starts_with("it is no notebook: recursion"));
    assert_eq!(
        refused("a.ipynb", "[]"),
        "it is no notebook: it has no cells"
    );
    assert!(refused("a.pdf", "%PDF-1.7\nnothing").starts_with("it cannot be read as PDF"));
}

#[test]
fn other_encodings_are_read_as_far_as_they_go() {
    let place = TempDir::new().unwrap();
    file(place.path(), "a.md", b"It is \xff so \xc3\xa4.\n");
    let wide: Vec<u8> = "\u{feff}It is wide.\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    file(place.path(), "b.txt", wide);
    file(place.path(), "README", "\u{feff}# Older\n\ntext\n");
    file(place.path(), "older.md", b"D\xe9j\xe0 \x93vu\x94\n");
    file(
        place.path(),
        "c.md",
        "seen\u{200b}\u{202e}\u{e0041}\u{7} text\n",
    );
    let documents = read(place.path());
    let texts: Vec<&str> = documents
        .passages
        .iter()
        .map(|it| it.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "text",
            "It is \u{fffd} so ä.",
            "It is wide.",
            "seen text",
            "Déjà “vu”"
        ]
    );
    assert_eq!(documents.passages[0].heading, "Older");
}

#[test]
fn large_files_are_refused_before_they_are_read() {
    let place = TempDir::new().unwrap();
    file(place.path(), "good.md", "It is good.\n");
    for (name, length) in [
        ("a.pdf", 100 << 20),
        ("b.md", 17 << 20),
        ("c.html", 1 << 40),
    ] {
        let file = fs::File::create(place.path().join(name)).unwrap();
        file.set_len(length).unwrap();
    }
    let unread = read(place.path()).unread;
    let ends: Vec<&str> = unread
        .iter()
        .map(|it| it.split_once(": ").unwrap().1)
        .collect();
    assert_eq!(
        ends,
        [
            "it is longer than the 64 MiB that are read",
            "it is longer than the 16 MiB that are read",
            "it is longer than the 16 MiB that are read",
        ]
    );
}

#[test]
fn pages_that_unpack_to_much_are_refused() {
    // A thousand times as long unpacked.
    let mut stream = Stream::new(dictionary! {}, vec![b' '; 40 << 20]);
    stream.compress().unwrap();
    let bytes = pdf::with_contents([stream].into_iter());
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let said = refused("a.pdf", bytes);
    assert!(said.starts_with("page 1 cannot be read: "), "{said}");
}

/// Files that are small and mean much, circles, and nesting.
#[test]
fn crooked_pdf_files_end_somewhere() {
    let page = |content: Vec<u8>| {
        let mut stream = Stream::new(dictionary! {}, content);
        stream.compress().unwrap();
        pdf::with_contents([stream].into_iter())
    };
    let text = "BT /F1 10 Tf 72 700 Td (It is so and so.) Tj ET ";
    let many = format!("{text}{}", "q ".repeat(3 << 20));
    let nested = format!("{text}{}", "[".repeat(200_000));
    let unset = "BT (It has no font.) Tj 1 0 0 1 1e38 1e38 Tm 1e38 0 Td ET Q Q Q";
    for (name, content, has_text) in [
        ("many.pdf", many.as_str(), true),
        ("nested.pdf", &nested, true),
        ("unset.pdf", unset, false),
    ] {
        let place = TempDir::new().unwrap();
        file(place.path(), "good.md", "It is good.\n");
        file(place.path(), name, page(content.as_bytes().to_vec()));
        let documents = read(place.path());
        assert_eq!(documents.files.len(), 1 + usize::from(has_text), "{name}");
    }
    let nested = "[".repeat(200_000) + &"]".repeat(200_000);
    let mut bytes = pdf::made(&[&[(10, 72, 700, "It is so.")]]);
    let at = bytes.windows(4).position(|it| it == b"xref").unwrap();
    bytes.splice(at..at, format!("90 0 obj\n{nested}\nendobj\n").into_bytes());
    let place = TempDir::new().unwrap();
    let path = file(place.path(), "a.pdf", bytes);
    // Whether it is read or refused, the program goes on.
    let _ = read_documents(&[path], &Limits::standard());
}

#[test]
fn much_text_ends_somewhere() {
    let place = TempDir::new().unwrap();
    let words: String = (0..40_000)
        .map(|it| format!("word{it} and so on\n"))
        .collect();
    file(place.path(), "a.md", &words);
    file(place.path(), "b.md", "It is good.\n");
    let limits = Limits {
        all_bytes: 100_000,
        ..Limits::standard()
    };
    let documents = read_documents(&[place.path().to_owned()], &limits).unwrap();
    let n_bytes: usize = documents.passages.iter().map(|it| it.text.len()).sum();
    assert!(n_bytes <= 100_000);
    assert!(
        documents.unread[0].contains("from some place on"),
        "{:?}",
        documents.unread
    );
    // Deep folders, and many files.
    let deep = "x/".repeat(40);
    file(place.path(), &format!("{deep}c.md"), "It is deep.\n");
    let documents = read(place.path());
    assert!(
        documents
            .unread
            .iter()
            .any(|it| it.ends_with("folders are nested too deeply")),
        "{:?}",
        documents.unread
    );
    let limits = Limits {
        files: 1,
        ..Limits::standard()
    };
    let documents = read_documents(&[place.path().to_owned()], &limits).unwrap();
    assert_eq!(documents.files.len(), 1);
    assert!(
        documents
            .unread
            .iter()
            .any(|it| it.starts_with("further files"))
    );
}

/// Texts that make a careless reader look at everything again and again.
#[test]
fn crooked_pages_take_no_longer() {
    let place = TempDir::new().unwrap();
    for (name, piece) in [
        ("a.html", "<"),
        ("b.html", "<table><tr><td>"),
        ("c.html", "<div hidden>"),
        ("d.html", "&amp"),
        ("e.html", "<a '"),
        ("f.md", "](("),
        ("g.md", "<!--"),
        ("h.md", "```\n"),
        ("i.md", "#\n"),
        ("j.md", "<a "),
        ("k.md", "<a \""),
        ("l.md", "` `` "),
        ("m.md", "<script>"),
        ("n.md", "x```x"),
        ("o.md", "<p hidden>\n\n"),
        ("p.html", "<math><msup><i>x"),
        ("q.html", "<h1><svg><path/>"),
    ] {
        file(place.path(), name, piece.repeat(100_000));
    }
    file(place.path(), "good.md", "It is good.\n");
    let documents = read(place.path());
    assert!(documents.passages.iter().any(|it| it.text == "It is good."));
}

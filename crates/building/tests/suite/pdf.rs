//! PDF files, which are made here.

use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, dictionary};

/// Makes a file with a page for each list of lines: size, place from the left and the bottom, text.
pub fn made(pages: &[&[(i64, i64, i64, &str)]]) -> Vec<u8> {
    with_contents(pages.iter().map(|lines| {
        let mut operations = vec![Operation::new("BT", vec![])];
        for (size, x, y, text) in *lines {
            operations.push(Operation::new("Tf", vec!["F1".into(), (*size).into()]));
            let matrix = [1, 0, 0, 1, *x, *y].map(Object::from).to_vec();
            operations.push(Operation::new("Tm", matrix));
            operations.push(Operation::new("Tj", vec![Object::string_literal(*text)]));
        }
        operations.push(Operation::new("ET", vec![]));
        let content = Content { operations };
        Stream::new(dictionary! {}, content.encode().unwrap())
    }))
}

/// Makes a file with these contents of pages.
pub fn with_contents(contents: impl Iterator<Item = Stream>) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages_id = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        "Encoding" => "WinAnsiEncoding",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let kids: Vec<Object> = contents
        .map(|content| {
            let content = document.add_object(content);
            let page = document.add_object(dictionary! {
                "Type" => "Page", "Parent" => pages_id, "Contents" => content,
            });
            page.into()
        })
        .collect();
    let count = kids.len() as i64;
    let pages = dictionary! {
        "Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
    };
    document.objects.insert(pages_id, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages_id });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

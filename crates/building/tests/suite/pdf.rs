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

/// Makes a file with a page whose operations these are.
pub fn drawn(operations: &str) -> Vec<u8> {
    let content = Stream::new(dictionary! {}, operations.as_bytes().to_vec());
    with_contents([content].into_iter())
}

/// Returns the operations that show a text in the composite font `F2`, whose letters are 0.9 of
/// its size wide, digits 0.7 and spaces 0.25.
pub fn composite(runs: &[(f32, f32, f32, &str)]) -> String {
    let run = |(size, x, y, text): &(f32, f32, f32, &str)| {
        let codes: String = text.chars().map(|c| format!("{:04x}", c as u32)).collect();
        format!("BT /F2 {size} Tf 1 0 0 1 {x} {y} Tm <{codes}> Tj ET ")
    };
    runs.iter().map(run).collect()
}

/// Makes a font of codes of two bytes, which are those of Unicode but for `U+F001`, a ligature.
fn composite_font(document: &mut Document) -> Object {
    let map = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Codes def\n/CMapType 2 def\n\
        1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n\
        2 beginbfrange\n<0020> <007e> <0020>\n<f001> <f001> <f001>\nendbfrange\n\
        endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n";
    let map = document.add_object(Stream::new(dictionary! {}, map.as_bytes().to_vec()));
    let widths: Vec<Object> = vec![
        32.into(),
        vec![Object::from(250)].into(),
        48.into(),
        57.into(),
        700.into(),
    ];
    let within = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "CIDFontType2", "BaseFont" => "Wide",
        "DW" => 900, "W" => widths,
    });
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type0", "BaseFont" => "Wide", "Encoding" => "Identity-H",
        "DescendantFonts" => vec![within.into()], "ToUnicode" => map,
    });
    font.into()
}

/// Makes a file with these contents of pages. Their resources are the fonts `F1` and `F2`, the form
/// `X1` and the state `G0`, in which nothing is opaque.
pub fn with_contents(contents: impl Iterator<Item = Stream>) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages_id = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        "Encoding" => "WinAnsiEncoding",
    });
    let composite = composite_font(&mut document);
    let in_form = "BT /F1 10 Tf 1 0 0 1 0 0 Tm (It stands in a form.) Tj \
        1 0 0 1 0 200 Tm (Outside of it.) Tj ET";
    let form = dictionary! {
        "Type" => "XObject", "Subtype" => "Form",
        "BBox" => vec![0.into(), Object::from(-5), 300.into(), 100.into()],
        "Matrix" => [1, 0, 0, 1, 72, 500].map(Object::from).to_vec(),
    };
    let form = document.add_object(Stream::new(form, in_form.as_bytes().to_vec()));
    let resources = document.add_object(dictionary! {
        "Font" => dictionary! { "F1" => font, "F2" => composite },
        "XObject" => dictionary! { "X1" => form },
        "ExtGState" => dictionary! { "G0" => dictionary! { "ca" => 0, "CA" => 0 } },
    });
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

//! Ideas of how a kernel might get away with something, one file for each class. A file has
//! a head and variants, each of which begins with what it is and what must become of it.

use crate::support;

#[test]
fn every_idea_gets_what_it_deserves() {
    let Some(bench) = support::bench() else {
        return;
    };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let (mut failures, mut count) = (Vec::new(), 0);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let mut parts = text.split("\n//! ");
        let head = parts.next().unwrap_or_default();
        for part in parts {
            let (title, body) = part.split_once('\n').expect("a body");
            let (name, wanted) = title.rsplit_once(": ").expect("an outcome");
            if cfg!(not(target_arch = "x86_64")) && body.contains("// x86-64") {
                continue;
            }
            count += 1;
            let (outcome, found) = support::outcome(&bench, &format!("{head}\n{body}"));
            let said = found.as_ref().map_or("", |found| found.code.as_str());
            let got = format!("{outcome} {said}");
            if got.trim_end() != wanted {
                let file = file.file_name().unwrap_or_default().display();
                let message = found.map(|found| found.message);
                failures.push(format!(
                    "{file}: {name}: wanted `{wanted}`, got `{got}`: {message:?}"
                ));
            }
        }
    }
    assert!(40 < count, "{count} ideas are too few");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

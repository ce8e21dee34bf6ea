//! Kernels as people write them: what the rewriter makes of each computes the same.

use super::{choice, menu, own_rewriter, problem};
use crate::support;

use autocomp_core::{Outcome, Rewriter};

#[test]
fn spellings_stay_right() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spellings");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let (menu, rewriter) = (menu(), own_rewriter());
    let mut failures = Vec::new();
    for file in files {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let source = std::fs::read_to_string(&file).expect("a kernel");
        let rows: Vec<Vec<&str>> = source
            .lines()
            .skip(1)
            .map_while(|line| line.strip_prefix("// "))
            .map(|line| line.split(' ').collect())
            .filter(|row: &Vec<&str>| row.len() == 4)
            .collect();
        let buffers: Vec<(&str, &str, &str, &str)> = rows
            .iter()
            .map(|row| (row[0], row[1], row[2], row[3]))
            .collect();
        let (mut fills, mut parameters) = (String::new(), Vec::new());
        for (name, kind, shape, role) in &buffers {
            let sizes: String = shape.split(',').map(|size| format!("[{size}]")).collect();
            let c_kind = match *kind {
                "float32" => "float",
                "int8" => "int8_t",
                _ => "int32_t",
            };
            parameters.push(format!("{c_kind} {name}{sizes}"));
            let values = match *kind {
                "float32" => "{ kind = \"real\", low = -2.0, high = 2.0 }",
                _ => "{ kind = \"uniform\", low = -128, high = 127 }",
            };
            if *role != "output" {
                fills += &format!("fill.{name} = {values}\n");
            }
        }
        let signature = parameters.join(", ");
        let text = problem(&signature, super::CLOSE, &buffers, &fills);
        let Some(bench) = support::bench_of(&text, &source) else {
            return;
        };
        let planned = match rewriter.plan(&source, choice(&menu, 0, 0)) {
            Ok(planned) => planned,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let made = rewriter
            .implement(&source, &planned.payload, 0)
            .expect("a kernel");
        let (outcome, found) = support::outcome(&bench, &made);
        if outcome != Outcome::Ok {
            failures.push(format!("{name}: {outcome} {found:?}\n{made}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

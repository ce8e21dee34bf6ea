//! Kernels as people write them: what the rewriter makes of each computes the same.

use super::{choice, menu, own_rewriter, problem};
use crate::support;

use autocomp_core::Rewriter;
use autocomp_host::bench::{HostBench, Tested};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the kernels whose parts the tests of `nests` name, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nests/tests/spellings");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

#[test]
fn spellings_stay_right() {
    let (menu, rewriter) = (menu(), own_rewriter());
    let mut failures = Vec::new();
    // Kernels that say that they compute the same share what it is compared with.
    let mut benches: BTreeMap<String, HostBench> = BTreeMap::new();
    for file in files() {
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
                "float16" => "uint16_t",
                "int8" => "int8_t",
                _ => "int32_t",
            };
            parameters.push(format!("{c_kind} {name}{sizes}"));
            let values = match *kind {
                "float16" | "float32" => "{ kind = \"real\", low = -2.0, high = 2.0 }",
                _ => "{ kind = \"uniform\", low = -128, high = 127 }",
            };
            if *role != "output" {
                fills += &format!("fill.{name} = {values}\n");
            }
        }
        // Callers see pointers and constants as the kernel declares them.
        let own = source
            .split_once("void solution(")
            .and_then(|(_, rest)| rest.split_once(')'));
        let own: Vec<&str> = own.map_or("", |(list, _)| list).split(',').collect();
        for (parameter, own) in parameters.iter_mut().zip(own) {
            if own.contains('*') || own.contains("const ") {
                let own = own.trim().replace("real", "float");
                *parameter = own.replace("__restrict__ ", "").replace("restrict ", "");
            }
        }
        let signature = parameters.join(", ");
        let text = problem(&signature, super::CLOSE, &buffers, &fills);
        let computes = source
            .lines()
            .find_map(|line| line.strip_prefix("// computes "));
        let key = format!("{} {signature}", computes.unwrap_or(&name));
        if !benches.contains_key(&key) {
            let Some(bench) = support::bench_of(&text, &source) else {
                return;
            };
            benches.insert(key.clone(), bench);
        }
        let bench = &benches[&key];
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
        let program = match bench.build(&made).expect("a compiler") {
            Ok(program) => program,
            Err(found) => {
                failures.push(format!("{name}: does not build: {found:?}\n{made}"));
                continue;
            }
        };
        match bench.test(&program, &made).expect("a machine") {
            Tested::Right(_) => {}
            wrong @ Tested::Failed(..) => failures.push(format!("{name}: {wrong:?}\n{made}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

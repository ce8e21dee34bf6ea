//! Hashes the sources that decide what an evaluation results in, so that
//! cached results of another version are never taken for this one's.

use std::path::{Path, PathBuf};

/// Crates whose code decides results, from this crate's folder.
const DECIDING: &[&str] = &[
    "../accelerator/src",
    "../sim/src",
    "../../../riscv/src",
    "../../../catalog/src",
    "../../../eval/src",
    "../../../toolchain/src",
    "../../../languages/c/src",
    "src",
];

fn main() {
    let mut hasher = blake3::Hasher::new();
    for folder in DECIDING {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files);
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_default();
            hasher.update(file.to_string_lossy().as_bytes());
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(&text);
        }
    }
    println!(
        "cargo::rustc-env=AUTOCOMP_ENGINE_HASH={}",
        hasher.finalize().to_hex()
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

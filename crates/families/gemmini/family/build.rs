//! Hashes the sources that decide what an evaluation results in, so that
//! cached results of another version are never taken for this one's.

use std::path::{Path, PathBuf};

/// The family's own code, from this crate's folder. A run goes on only with the same.
const FAMILY: &[&str] = &[
    "../accelerator/src",
    "../sim/src",
    "../../../riscv/src",
    "src",
    "data",
];

/// What else decides results: cached ones are those of the same code, here too.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../toolchain/src",
    "../../../languages/c/src",
];

fn main() {
    let mut hasher = blake3::Hasher::new();
    add(&mut hasher, FAMILY);
    let family = hasher.finalize().to_hex();
    println!("cargo::rustc-env=AUTOCOMP_FAMILY_HASH={family}");
    add(&mut hasher, SHARED);
    let engine = hasher.finalize().to_hex();
    println!("cargo::rustc-env=AUTOCOMP_ENGINE_HASH={engine}");
}

/// Adds all Rust files below `folders`, and data.
fn add(hasher: &mut blake3::Hasher, folders: &[&str]) {
    for folder in folders {
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
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "toml")
        {
            files.push(path);
        }
    }
}

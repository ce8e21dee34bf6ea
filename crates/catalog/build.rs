//! Lists the files that are built in, which the compiler then takes in, and rebuilds the crate
//! when a built-in folder gains or loses one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let mut files = Vec::new();
    for folder in ["targets", "problems", "suites"] {
        println!("cargo::rerun-if-changed=../../{folder}");
        collect(&root.join(folder), folder, &mut files);
    }
    files.sort();
    let mut list = format!("static BUILT_IN: [(&str, &[u8]); {}] = [\n", files.len());
    for (name, path) in files {
        writeln!(list, "    ({name:?}, include_bytes!({path:?})),").unwrap();
    }
    list += "];\n";
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    fs::write(out.join("built_in.rs"), list).unwrap();
}

/// Adds the files below `folder`, which is called `name`: their names and where they are.
fn collect(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &name, files);
        } else {
            files.push((name, path));
        }
    }
}

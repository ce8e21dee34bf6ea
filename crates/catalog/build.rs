//! Packs the files that are built in, which the compiler then takes in, and rebuilds the crate
//! when one of them changes or a built-in folder gains or loses one.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let mut files = Vec::new();
    for folder in ["targets", "problems", "suites"] {
        println!("cargo::rerun-if-changed=../../{folder}");
        collect(&root.join(folder), folder, &mut files)?;
    }
    files.sort();
    let out = Path::new(&env::var("OUT_DIR")?).join("built_in.zst");
    Ok(fs::write(out, autocomp_packed_files::pack(files)?)?)
}

/// Adds the files below `folder`, which is called `name`, with their contents.
fn collect(
    folder: &Path,
    name: &str,
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let file_name = file_name.to_str().ok_or("a name that is not UTF-8")?;
        let name = format!("{name}/{file_name}");
        if entry.path().is_dir() {
            collect(&entry.path(), &name, files)?;
        } else {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(())
}

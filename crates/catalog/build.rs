//! Lists the files that are built in, which the compiler then takes in, and rebuilds the crate
//! when a built-in folder gains or loses one.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
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
    let mut list = format!("static BUILT_IN: [(&str, &[u8]); {}] = [\n", files.len());
    for name in files {
        // By the crate's own folder, so that a checkout that was moved or copied still builds.
        writeln!(
            list,
            "    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../{name}\"))),"
        )?;
    }
    list += "];\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("built_in.rs"), list)?;
    Ok(())
}

/// Adds the names of the files below `folder`, which is called `name`.
fn collect(folder: &Path, name: &str, files: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let file_name = file_name.to_str().ok_or("a name that is not UTF-8")?;
        let name = format!("{name}/{file_name}");
        if entry.path().is_dir() {
            collect(&entry.path(), &name, files)?;
        } else {
            files.push(name);
        }
    }
    Ok(())
}

//! Packs the front end, which the compiler then takes in.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

const ASSETS: &str = "assets";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ASSETS}");
    let mut files = Vec::new();
    for entry in fs::read_dir(ASSETS)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or("a name that is not UTF-8")?.to_owned();
        files.push((name, fs::read(entry.path())?));
    }
    files.sort();
    let out = Path::new(&env::var("OUT_DIR")?).join("assets.zst");
    Ok(fs::write(out, autocomp_packed_files::pack(files)?)?)
}

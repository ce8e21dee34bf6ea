//! Hashes the sources that decide what an evaluation results in, so that
//! cached results of another version are never taken for this one's, and packs the programs
//! that the simulator is calibrated with, most of whose bytes say nothing: a sixth is left.

use autocomp_source_hash::SourceHash;
use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

include!("sources.rs");

const SUITE: &str = "../sim/calibration/gemmini-rtl";

fn main() -> Result<(), Box<dyn Error>> {
    let mut hash = SourceHash::default();
    hash.add(FAMILY, WITHOUT)?;
    hash.export("AUTOCOMP_FAMILY_HASH");
    hash.add(SHARED, &[])?;
    hash.export("AUTOCOMP_ENGINE_HASH");
    pack_suite()
}

fn pack_suite() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SUITE}");
    let mut files = Vec::new();
    for (folder, end) in [(SUITE.to_owned(), "tsv"), (format!("{SUITE}/elf"), "elf")] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == end) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut contents = Vec::new();
    for path in &files {
        let name = path.strip_prefix(SUITE)?.to_str().ok_or("an odd name")?;
        contents.push((name, fs::read(path)?));
    }
    let out = Path::new(&env::var("OUT_DIR")?).join("calibration.zst");
    Ok(fs::write(out, autocomp_packed_files::pack(contents)?)?)
}

//! Hashes the sources that decide what an evaluation results in, so that
//! cached results of another version are never taken for this one's.

use autocomp_source_hash::SourceHash;

include!("sources.rs");

fn main() -> std::io::Result<()> {
    let mut hash = SourceHash::default();
    hash.add(FAMILY, &[WITHOUT, DEVICE].concat())?;
    hash.export("AUTOCOMP_FAMILY_HASH");
    hash.add(SHARED, &[])?;
    hash.export("AUTOCOMP_ENGINE_HASH");
    Ok(())
}

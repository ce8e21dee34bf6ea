//! Hashes the sources that decide what an evaluation results in, so that
//! cached results of another version are never taken for this one's.

use autocomp_source_hash::SourceHash;

include!("sources.rs");

fn main() -> std::io::Result<()> {
    let mut hash = SourceHash::default();
    hash.add(FAMILY, &[WITHOUT, DEVICE].concat())?;
    hash.export("AUTOCOMP_CUDA_IDENTITY");
    hash.add(SHARED, &[])?;
    hash.export("AUTOCOMP_CUDA_HASH");
    let mut device = SourceHash::default();
    device.add(DEVICE, &[])?;
    device.export("AUTOCOMP_CUDA_DEVICE");
    Ok(())
}

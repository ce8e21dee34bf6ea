//! Hashes the sources of this crate, which decide what is measured on a board.

use autocomp_source_hash::SourceHash;

fn main() -> std::io::Result<()> {
    let mut hash = SourceHash::default();
    hash.add(&["src"], &[])?;
    hash.export("AUTOCOMP_BOARD_HASH");
    Ok(())
}

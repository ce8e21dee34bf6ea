//! Programs of the kinds that are met most, each from a C file in `programs/`.
//!
//! `programs/build.sh` makes them. They begin at their first byte, have their data behind
//! their code and their stack below `sp`, and never end. The last ones are made of vectors.

macro_rules! flat {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("programs/", $name, ".bin")))),*]
    };
}

/// By name, the memory of each from its beginning on.
pub const FLAT: &[(&str, &[u8])] = flat! {
    "blocks" "bodies" "bytecode" "crc" "doubles" "format" "lexer" "quantize" "quicksort"
    "records" "records-unoptimized" "scatter" "stream" "tree" "words"
    "vectors/dot" "vectors/tile" "vectors/bytes"
};

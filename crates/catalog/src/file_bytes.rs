//! Contents of files as base64 (RFC 4648), where a target is told to another process: a list of
//! numbers takes between two and four characters for each byte.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Writes contents by name.
pub(crate) fn serialize<S: Serializer>(
    files: &BTreeMap<String, Vec<u8>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let texts = files
        .iter()
        .map(|(name, bytes)| (name, STANDARD.encode(bytes)));
    texts.collect::<BTreeMap<_, _>>().serialize(serializer)
}

/// Reads contents by name.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Vec<u8>>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
    let files = texts.into_iter().map(|(name, text)| {
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        Ok((name, bytes))
    });
    files.collect()
}

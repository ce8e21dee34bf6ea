//! Content hashes: the keys of blobs, builds and evaluations.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The BLAKE3 hash of some content, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(pub [u8; 32]);

/// The text is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a content hash (64 hexadecimal digits)")]
pub struct ParseHashError(pub String);

impl ContentHash {
    /// Returns the hash of `bytes`: the name of the blob that holds them.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Returns the first 12 digits, enough for people.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short())
    }
}

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseHashError(text.to_owned());
        if text.len() != 64 || !text.is_ascii() {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (idx, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * idx..2 * idx + 2], 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Hashes several fields under a domain name; each field is length-prefixed.
#[derive(Debug)]
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    /// Starts a hash in the domain `domain`, so that equal fields of different
    /// kinds of key never collide.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        let mut hasher = Self(blake3::Hasher::new());
        hasher.update(domain.as_bytes());
        hasher
    }

    /// Appends one field.
    pub fn update(&mut self, field: &[u8]) {
        self.0.update(&(field.len() as u64).to_le_bytes());
        self.0.update(field);
    }

    /// Returns the hash of all fields so far.
    #[must_use]
    pub fn finish(&self) -> ContentHash {
        ContentHash(*self.0.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentHash, ContentHasher};

    #[test]
    fn text_form_round_trips() {
        let hash = ContentHash::of(b"kernel");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!("xyz".parse::<ContentHash>().is_err());
    }

    #[test]
    fn field_borders_matter() {
        let hash = |fields: &[&str]| {
            let mut hasher = ContentHasher::new("test");
            for field in fields {
                hasher.update(field.as_bytes());
            }
            hasher.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
    }
}

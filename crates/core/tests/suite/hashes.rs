//! Content hashes.

use autocomp_core::{ContentHash, ContentHasher};

#[test]
fn text_form_round_trips() {
    let hash = ContentHash::of(b"kernel");
    assert_eq!(hash.to_string().parse(), Ok(hash));
    assert!("xyz".parse::<ContentHash>().is_err());
    assert!(
        format!("-{}", &hash.to_string()[1..])
            .parse::<ContentHash>()
            .is_err()
    );
    assert!("+f".repeat(32).parse::<ContentHash>().is_err());
    let upper = hash.to_string().to_uppercase();
    assert_eq!(upper.parse(), Ok(hash));
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

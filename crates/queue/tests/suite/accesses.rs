//! Who may come in, and what is told of secrets: nothing.

use crate::nats::Nats;
use autocomp_queue::{Access, Server};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn files_and_addresses_that_will_not_do_are_refused_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    file(folder, "open", "SECRET", 0o644);
    file(folder, "shut", "SECRET", 0o600);
    file(folder, "empty", "", 0o600);
    let cases = [
        ("nats://anna:SECRET@host", None, "a secret does not belong"),
        ("http://host", None, "no address of a NATS server"),
        (
            "host",
            Some("password = \"open\""),
            "others may read it (mode 644)",
        ),
        ("host", Some("password = \"absent\""), "No such file"),
        ("host", Some("password = \"empty\""), "it is empty"),
        ("host", Some("pass = \"shut\""), "unknown field `pass`"),
        (
            "host",
            Some("password = \"shut\"\nnkey = \"shut\""),
            "more than one of",
        ),
        ("host", Some("certificate = \"shut\""), "go together"),
        (
            "host",
            Some("user = \"a.b\"\npassword = \"shut\""),
            "letters, digits",
        ),
    ];
    for (address, text, expected) in cases {
        let access = text.map(|text| file(folder, "access.toml", text, 0o600));
        let error = Access::new(address, access.as_deref()).unwrap_err();
        let told = format!("{error} {}", error.remedy());
        assert!(told.contains(expected), "{address} {text:?}: {told}");
        assert!(!told.contains("SECRET"), "{told}");
    }
    let good = file(
        folder,
        "access.toml",
        "user = \"anna\"\npassword = \"shut\"",
        0o600,
    );
    let access = Access::new("host", Some(&good)).unwrap();
    assert_eq!((access.address(), access.user()), ("nats://host", "anna"));
    assert!(!format!("{access:?}").contains("SECRET"));
}

#[tokio::test]
async fn users_come_in_with_a_password_or_a_key_and_others_do_not() {
    let key = nkeys::KeyPair::new_user();
    let nats = Nats::with(&format!(
        "authorization {{ users = [ {{ user: anna, password: SECRET }}, {{ nkey: {} }} ] }}",
        key.public_key()
    ));
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    file(folder, "password", "SECRET\n", 0o600);
    file(folder, "wrong", "WRONG", 0o600);
    file(folder, "seed", &key.seed().unwrap(), 0o600);
    let connect = async |text: &str| {
        let path = file(folder, "access.toml", text, 0o600);
        let access = Access::new(&nats.address(), Some(&path)).unwrap();
        Server::connect(&access, "test").await
    };
    assert!(
        connect("user = \"anna\"\npassword = \"password\"")
            .await
            .is_ok()
    );
    assert!(connect("user = \"key\"\nnkey = \"seed\"").await.is_ok());
    let error = connect("user = \"anna\"\npassword = \"wrong\"")
        .await
        .unwrap_err();
    let told = format!("{error} {}", error.remedy());
    assert!(told.contains("--queue-access"), "{told}");
    assert!(!told.contains("WRONG"), "{told}");
    let error = Server::connect(&nats.access(), "test").await.unwrap_err();
    assert!(error.remedy().contains("--queue-access"), "{error}");
}

//! Keys are concealed.

use autocomp_llm::{Provider, Secrets, SecretsError, conceal};

fn planted() -> Secrets {
    Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| "sk-planted-123456".to_owned()))
}

#[test]
fn keys_never_print() {
    let secrets = planted();
    assert_eq!(secrets.key(Provider::OpenAi), Some("sk-planted-123456"));
    assert!(!format!("{secrets:?}").contains("planted"));
    assert_eq!(
        secrets.redact("a sk-planted-123456 b"),
        "a [OPENAI_API_KEY] b"
    );
}

#[test]
fn other_spellings_are_found() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    const KEY: &str = "sk-pl?nted/Key+0003~=abc";
    let secrets = Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    let each = |spell: fn(u8) -> String| KEY.bytes().map(spell).collect::<String>();
    let units = KEY.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
    let percent = KEY
        .replace('?', "%3f")
        .replace('/', "%2F")
        .replace('+', "%2b");
    let mut spelled = vec![
        KEY.to_uppercase(),
        KEY.to_lowercase(),
        KEY.chars().rev().collect(),
        KEY.replace('/', "\\/"),
        units.collect(),
        percent.clone(),
        percent.replace('%', "%25"),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X} ")),
        each(|byte| format!("\\x{byte:02x}")),
        KEY.replace("nted", "nt\n ed"),
        KEY.replace("nted", "nt\\r\\ned"),
    ];
    for around in ["", "u", "us", "user:"] {
        let text = format!("{around}{KEY}{around}");
        spelled.push(STANDARD.encode(&text));
        spelled.push(URL_SAFE_NO_PAD.encode(&text));
        spelled.push(
            STANDARD
                .encode(&text)
                .replace('+', "%2B")
                .replace('=', "%3D"),
        );
    }
    for spelling in spelled {
        let redacted = secrets.redact(&format!("before <{spelling}> after"));
        assert!(
            redacted.starts_with("before <")
                && redacted.ends_with("> after")
                && redacted.contains("[OPENAI_API_KEY]"),
            "{spelling}: {redacted}"
        );
        // What is left of base64 are digits that depend on the text around it.
        assert!(redacted.len() < 56, "{spelling}: {redacted}");
    }
    let harmless = "for (int i = 0; i < 100 % 7; i++) { printf(\"%d\\n\", i); }";
    assert_eq!(secrets.redact(harmless), harmless);
}

#[test]
fn short_keys_are_found_as_they_are_only() {
    let secrets =
        Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| "ollama".to_owned()));
    assert_eq!(secrets.redact("ollama OLLAMA"), "[OPENAI_API_KEY] OLLAMA");
}

#[test]
fn words_that_look_like_keys_are_concealed() {
    for text in [
        "command::curl -H 'Authorization: Bearer abc123def456ghi789' -d @-",
        "command::ask --api-key=abc123def456ghi789",
        "command::ask --api-key abc123def456ghi789",
        "command::env MY_TOKEN=abc123def456ghi789 ask",
        "3 | opnai_key = \"abc123def456ghi789\"",
        "command::ask sk-proj-abcdefghijklmnop",
    ] {
        let (concealed, is_changed) = conceal(text);
        assert!(is_changed && concealed.contains("[hidden]"), "{text}");
        assert!(!concealed.contains("abc"), "{concealed}");
    }
    for text in [
        "command::sh -c 'prompt=$(cat); case \"$prompt\" in *CHOICE:*) printf \"x\";; esac'",
        "command::env:MY_TOKEN ask --max-tokens 16384 --key-file /home/me/keys/openai1.txt",
        "openai@https://host.example.org/v1::meta-llama/Llama-3.3-70B-Instruct",
        "command::ask --tokens-per-minute 1000000000000000000",
    ] {
        assert_eq!(conceal(text), (text.to_owned(), false));
    }
}

#[cfg(unix)]
#[test]
fn key_files_need_tight_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("keys.toml");
    std::fs::write(&path, "[keys]\nanthropic = \"sk-ant-planted\"\n").expect("write");
    let mode = |mode| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("chmod");
    };
    mode(0o644);
    let mut secrets = Secrets::default();
    let error = secrets.add_file(&path).expect_err("others may read it");
    assert!(matches!(
        error,
        SecretsError::Permissions { mode: 0o644, .. }
    ));
    mode(0o600);
    secrets.add_file(&path).expect("readable");
    assert_eq!(secrets.key(Provider::Anthropic), Some("sk-ant-planted"));
    std::fs::write(&path, "[keys]\nanthropic = sk-ant-planted\n").expect("write");
    let message = secrets.add_file(&path).expect_err("not TOML").to_string();
    assert!(
        message.contains("line 2") && !message.contains("planted"),
        "{message}"
    );
}

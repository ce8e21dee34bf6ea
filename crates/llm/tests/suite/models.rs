//! Names of models.

use autocomp_llm::{ModelSpec, Provider};

fn check(text: &str, provider: Provider, url: Option<&str>, name: &str) {
    let spec: ModelSpec = text.parse().expect(text);
    assert_eq!(
        (spec.provider, spec.url.as_deref(), spec.name.as_str()),
        (provider, url, name)
    );
    assert_eq!(spec.to_string().parse(), Ok(spec));
}

#[test]
fn model_strings_parse() {
    check("openai::gpt-5.4", Provider::OpenAi, None, "gpt-5.4");
    check(
        "together::meta-llama/Llama-3.3-70B",
        Provider::Together,
        None,
        "meta-llama/Llama-3.3-70B",
    );
    check(
        "vllm@http://[::1]:8000/v1::m",
        Provider::Vllm,
        Some("http://[::1]:8000/v1/"),
        "m",
    );
    check(
        "openai@http://127.0.0.1:1/v1/::a:b",
        Provider::OpenAi,
        Some("http://127.0.0.1:1/v1/"),
        "a:b",
    );
    check(
        "command::sh -c 'echo a::b'",
        Provider::Command,
        None,
        "sh -c 'echo a::b'",
    );
    check(
        "mailbox::some/folder",
        Provider::Mailbox,
        None,
        "some/folder",
    );
}

#[test]
fn bad_model_strings_say_what_is_wrong() {
    let reason = |text: &str| text.parse::<ModelSpec>().expect_err(text).reason;
    assert!(reason("gpt-5").contains("provider::model"));
    assert!(reason("opnai::gpt-5").contains("known are openai"));
    assert!(reason("openai::").contains("empty"));
    assert!(reason("openai@ftp://x::m").contains("http"));
    assert!(reason("openai@nonsense::m").contains("cannot be read"));
    assert!(reason("compatible::m").contains("address"));
    assert!(reason("openai@http://u:p@h/v1::m").contains("password"));
    assert!(reason("openai@http://h/v1?api_key=x::m").contains("environment"));
}

#[test]
fn every_provider_is_registered() {
    for info in autocomp_llm::PROVIDERS {
        assert_eq!(info.provider.info().name, info.name);
    }
}

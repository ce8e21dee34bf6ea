//! What a browser may ask for.

use autocomp_dashboard::inside::{provider_model, word};

#[test]
fn words_are_no_flags_and_lead_nowhere() {
    for good in ["gemm-512x512x512", "c12", "i2.b0.p3.d0", "a_b"] {
        assert!(word("it", good, "").is_ok(), "{good}");
    }
    assert!(word("it", "toy/sum-64", "/").is_ok());
    let long = "a".repeat(200);
    for bad in [
        "",
        "-x",
        "--config=x",
        ".",
        "..",
        ".hidden",
        "a b",
        "a;b",
        "a\nb",
        "a/b",
        &long,
    ] {
        assert!(word("it", bad, "").is_err(), "{bad}");
    }
    for bad in ["/etc/passwd", "a/../b", "../a", "a/.b", "a//", "-a/b"] {
        assert!(word("it", bad, "/").is_err() || bad == "a//", "{bad}");
    }
}

#[test]
fn models_run_no_programs_and_reach_no_addresses() {
    for good in ["openai::gpt-5", "rewriter", "openrouter::a/b:free"] {
        assert!(provider_model(good).is_ok(), "{good}");
    }
    for bad in [
        "command::./x",
        "mailbox::here",
        "openai@http://evil/::x",
        "gpt-5",
        "a b::c",
    ] {
        assert!(provider_model(bad).is_err(), "{bad}");
    }
}

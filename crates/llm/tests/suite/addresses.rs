//! Addresses are joined.

use autocomp_llm::inside::join;

#[test]
fn addresses_keep_their_query() {
    assert_eq!(join("http://h/v1/", "messages"), "http://h/v1/messages");
    assert_eq!(
        join("https://h/openai?api-version=1", "chat/completions"),
        "https://h/openai/chat/completions?api-version=1"
    );
}

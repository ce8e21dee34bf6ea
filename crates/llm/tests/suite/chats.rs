//! Who thinks how.

use autocomp_llm::Request;
use autocomp_llm::inside::{Chat, Responses, Wire as _};

/// Servers at other addresses do not know the marks, so cassettes cannot show them.
#[test]
fn the_stable_prefix_is_marked_where_writing_to_the_cache_costs() {
    let request = Request::new("prefix", "question", 100);
    let chat = |name: &str| {
        let spec = name.parse().expect(name);
        Chat::new(&spec).body(&request).expect(name)
    };
    let new = chat("openai::gpt-5.6-mini");
    assert_eq!(new["prompt_cache_options"]["mode"], "explicit");
    let system = &new["messages"][0]["content"][0];
    assert_eq!(system["prompt_cache_breakpoint"]["mode"], "explicit");
    assert_eq!(new["max_completion_tokens"], 100);
    let old = chat("openai::gpt-5.4");
    assert_eq!(old["messages"][0]["content"], "prefix");
    assert!(old.get("prompt_cache_options").is_none());
    let other = chat("openai@http://h/v1::gpt-5.6");
    assert!(other.get("prompt_cache_options").is_none());
    let spec = "openai-responses::gpt-6".parse().expect("spec");
    let responses = Responses::new(&spec).body(&request).expect("body");
    let system = &responses["input"][0]["content"][0];
    assert_eq!(system["prompt_cache_breakpoint"]["mode"], "explicit");
}

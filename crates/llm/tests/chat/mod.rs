//! A local server that speaks the chat protocol, for the tests of all that ask
//! models: other crates include this file by its path.

use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

/// Starts a server that answers every request like this.
pub async fn server(
    respond: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(respond)
        .mount(&server)
        .await;
    server
}

/// Returns what a request asks: the body, and the prompt in it.
pub fn question(request: &Request) -> (Value, String) {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let prompt = body["messages"][1]["content"].as_str().expect("prompt");
    let prompt = prompt.to_owned();
    (body, prompt)
}

/// Returns a finished reply, with the tokens that it took.
pub fn reply(text: &str, usage: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": usage,
    }))
}

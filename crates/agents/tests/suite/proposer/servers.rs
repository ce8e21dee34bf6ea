//! Proposers that ask local servers.

use super::chat::{self, question, server};
use super::toy::facts;
use autocomp_agents::{CodeForm, LlmProposer, LlmProposerSettings, Templates};
use autocomp_llm::{Budget, ConnectSettings, Connector, PriceTable, RetryPolicy, Secrets};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

pub const KEY: &str = "sk-planted-key-0002";

pub fn settings(urls: &[&MockServer]) -> ConnectSettings {
    let mut table = "version = 1\n".to_owned();
    for url in urls {
        table.push_str(&format!(
            "[[price]]\nmodel = \"openai@{}/v1::m\"\ninput = 2.0\ncached = 0.5\noutput = 8.0\n\
             as_of = \"2026-01-01\"\nsource = \"test\"\n",
            url.uri()
        ));
    }
    ConnectSettings {
        // Nothing takes that long, however busy the machine.
        timeout: Duration::from_secs(3600),
        retry: RetryPolicy {
            max_attempts: 2,
            first_delay: Duration::from_millis(1),
            longest_delay: Duration::from_millis(4),
            deadline: Duration::from_secs(7200),
        },
        prices: PriceTable::parse(&table).expect("prices"),
        ..ConnectSettings::standard()
    }
}

pub fn secrets() -> Arc<Secrets> {
    Arc::new(Secrets::from_lookup(|name| {
        (name == "OPENAI_API_KEY").then(|| KEY.to_owned())
    }))
}

pub fn proposer(servers: &[&MockServer], budget: &Arc<Budget>) -> LlmProposer {
    proposer_with(servers, budget, CodeForm::Whole)
}

pub fn proposer_with(
    servers: &[&MockServer],
    budget: &Arc<Budget>,
    code_form: CodeForm,
) -> LlmProposer {
    let change = |settings: &mut LlmProposerSettings| settings.code_form = code_form;
    proposer_from(settings(servers), servers, budget, change)
}

pub fn proposer_set(
    servers: &[&MockServer],
    change: impl FnOnce(&mut LlmProposerSettings),
) -> LlmProposer {
    proposer_from(settings(servers), servers, &Budget::unlimited(), change)
}

pub fn proposer_by(
    connect: ConnectSettings,
    servers: &[&MockServer],
    budget: &Arc<Budget>,
) -> LlmProposer {
    proposer_from(connect, servers, budget, |_| {})
}

fn proposer_from(
    connect: ConnectSettings,
    servers: &[&MockServer],
    budget: &Arc<Budget>,
    change: impl FnOnce(&mut LlmProposerSettings),
) -> LlmProposer {
    let connector = Connector::new(connect, secrets(), Arc::clone(budget));
    let names: Vec<_> = servers
        .iter()
        .map(|server| format!("openai@{}/v1::m", server.uri()))
        .collect();
    let models = connector.connect(&names).expect("connect");
    let mut settings = LlmProposerSettings {
        patience: Duration::ZERO,
        ..LlmProposerSettings::standard()
    };
    change(&mut settings);
    LlmProposer::new(
        facts(),
        Templates::new(&BTreeMap::new()).expect("templates"),
        models.clone(),
        models,
        settings,
    )
}

/// A reply that took 100 tokens, 60 of them cached, and has 50.
pub fn reply(text: &str) -> ResponseTemplate {
    let usage = json!({
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 60},
    });
    chat::reply(text, &usage)
}

/// A model that knows what to do.
pub async fn good() -> MockServer {
    server(|request| {
        let (_, prompt) = question(request);
        reply(if prompt.contains("# Possible optimizations") {
            "CHOICE: unroll\nUnroll the loop over rows by four."
        } else {
            "Here it is:\n```c\nvoid solution(int8_t a[4][4]) {\n  copy(a, 1);\n}\n```\n"
        })
    })
    .await
}

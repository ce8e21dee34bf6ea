//! Settings that cannot work, and what a check says about models.

use super::network::raw_server;
use autocomp_llm::{
    Budget, CheckSettings, ConnectSettings, Connector, LlmErrorKind, Price, ScriptedClient,
    Secrets, check_models,
};
use std::sync::Arc;
use std::time::Duration;

/// How runs ask.
const CHECK: CheckSettings = CheckSettings {
    max_output_tokens: 2048,
    temperature: None,
    reasoning: None,
};

#[tokio::test]
async fn settings_that_cannot_work_are_refused_before_anything_is_sent() {
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let complaint = |name: &str| match connector.connect(&[name]) {
        Ok(_) => panic!("{name} is accepted"),
        Err(error) => error.to_string(),
    };
    assert!(complaint("openai::gpt-5.4").contains("OPENAI_API_KEY"));
    assert!(complaint("bedrock@https://host::m").contains("no price"));
    assert!(complaint("vertex::gemini-9").contains("no price"));
    assert!(complaint("command::sh -c 'open").contains("quote"));
    assert!(complaint("opnai::m").contains("unknown provider"));
    let with_key = complaint("command::ask --api-key abc123def456ghi789");
    assert!(with_key.contains("holds a key") && !with_key.contains("abc123"));
    let known =
        Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| "sk-plant-77".into()));
    let knowing = Connector::new(
        ConnectSettings::standard(),
        Arc::new(known),
        Budget::unlimited(),
    );
    for name in [
        "command::ask SK-PLANT-77",
        "vllm@http://host/v1?k=sk-plant-77::m",
    ] {
        let Err(error) = knowing.connect(&[name]) else {
            panic!("{name} is accepted");
        };
        assert!(
            !error.to_string().to_lowercase().contains("sk-plant"),
            "{error}"
        );
    }
    let allowed = Connector::new(
        ConnectSettings {
            allow_unknown_prices: true,
            ..ConnectSettings::standard()
        },
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    assert!(
        allowed
            .connect(&["compatible@http://127.0.0.1:9/v1::m"])
            .is_ok()
    );
    // The member is shared between the set for plans and the set for code.
    let plans = allowed.connect(&["vllm::m"]).expect("connect");
    let code = allowed.connect(&["vllm::m"]).expect("connect");
    assert!(Arc::ptr_eq(&plans.members()[0], &code.members()[0]));
    let price = Price::free("x");
    assert_eq!(
        allowed
            .wrap(ScriptedClient::new("x", []), price.clone())
            .price(),
        &price
    );
}

#[tokio::test]
async fn a_check_tells_who_answers_and_why_others_do_not() {
    let body = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 118\r\n\r\n\
                {\"choices\":[{\"message\":{\"content\":\"ready\"},\"finish_reason\":\"stop\"}],\
                \"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}";
    let answering = raw_server(vec![body], Duration::ZERO)
        .await
        .to_string()
        .replace("openai@", "vllm@");
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let names = [
        answering.as_str(),
        "openai::gpt-5.4",
        "openai::no-such",
        "nonsense",
    ];
    let checks = check_models(&connector, &names, CHECK).await;
    let errors: Vec<_> = checks
        .iter()
        .map(|check| check.error.clone().unwrap_or_default())
        .collect();
    assert!(
        checks[0].ok && checks[0].reports_usage == Some(true),
        "{errors:?}"
    );
    assert_eq!(checks[1].error_kind, Some(LlmErrorKind::Auth));
    assert!(checks[1].price.is_some());
    assert!(
        errors[2].contains("no price") && errors[3].contains("provider::model"),
        "{errors:?}"
    );
}

//! The proposer against local servers: what it asks, what it accepts, whom it asks next.

use autocomp_agents::{
    ImplementRequest, IsaFacts, LlmProposer, LlmProposerSettings, PlanRequest, PromptFacts,
    ProposeErrorKind, Proposer, Templates,
};
use autocomp_core::{
    ContentHash, Cycles, Evaluation, Feedback, Measurement, MenuItem, Outcome, Plan, Purpose, Seed,
    TaskKey, UsdMicros,
};
use autocomp_llm::{
    Amount, Budget, Caps, ConnectSettings, Connector, PriceTable, RetryPolicy, Secrets,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers::any};

const KEY: &str = "sk-planted-key-0002";
const KERNEL: &str = "void solution(int8_t a[4][4]) {\n  mvin(a, 0);\n}\n";

fn facts() -> Arc<PromptFacts> {
    let isa = |title: &str, symbols: &[&str]| IsaFacts {
        title: title.to_owned(),
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        text: format!("What {title} does."),
    };
    Arc::new(PromptFacts {
        target: "toy-int8".to_owned(),
        target_description: "A toy accelerator.".to_owned(),
        language: "c".to_owned(),
        architecture: "It has a scratchpad of 16 rows.".to_owned(),
        isa: vec![
            isa("Fences", &[]),
            isa("Moving in", &["mvin"]),
            isa("Moving out", &["mvout"]),
        ],
        general_rules: vec!["Keep the result exact.".to_owned()],
        plan_rules: vec!["Name the loops.".to_owned()],
        code_rules: vec!["No includes.".to_owned()],
        examples: Vec::new(),
        problem: "toy/copy".to_owned(),
        problem_description: "Copies a matrix.".to_owned(),
        problem_facts: vec!["`a[4][4]` is read and written.".to_owned()],
        entry: "solution".to_owned(),
        signature: "void solution(int8_t a[4][4])".to_owned(),
    })
}

fn menu() -> Vec<MenuItem> {
    ["double-buffer", "unroll", MenuItem::OTHER]
        .map(|id| MenuItem {
            id: id.to_owned(),
            text: format!("Do {id}."),
            applies_when: String::new(),
        })
        .to_vec()
}

fn evaluation() -> Evaluation {
    Evaluation {
        key: ContentHash::of(b"kernel"),
        outcome: Outcome::Ok,
        diagnostics: Vec::new(),
        measurement: Some(Measurement {
            cycles: Cycles(1000),
            cold_cycles: Cycles(1200),
            instructions: 50,
            ideal_cycles: Cycles(250),
            percent_of_peak: 25.0,
            engine: "sim".to_owned(),
            compiler: "cc".to_owned(),
        }),
        feedback: Some(Feedback {
            bottleneck: "Loads wait for nothing.".to_owned(),
            counters: [("bytes_read".to_owned(), 64.0)].into(),
            lines: Vec::new(),
        }),
        tiers: Vec::new(),
    }
}

fn key(plan: u32, draft: u32, purpose: Purpose) -> TaskKey {
    TaskKey {
        iteration: 1,
        parent: 0,
        plan,
        draft,
        purpose,
    }
}

fn plan_request(plan: u32) -> PlanRequest {
    PlanRequest {
        key: key(plan, 0, Purpose::Plan),
        seed: Seed(7),
        iterations: 8,
        kernel: KERNEL.to_owned(),
        evaluation: evaluation(),
        menu: menu(),
    }
}

fn implement_request() -> ImplementRequest {
    ImplementRequest {
        key: key(0, 0, Purpose::Draft),
        seed: Seed(7),
        kernel: KERNEL.to_owned(),
        evaluation: evaluation(),
        plan: Plan {
            menu_item: "unroll".to_owned(),
            text: "Unroll the loop over rows by four.".to_owned(),
            payload: String::new(),
            proposer: "openai::m".to_owned(),
        },
    }
}

fn settings(urls: &[&MockServer]) -> ConnectSettings {
    let mut table = "version = 1\n".to_owned();
    for url in urls {
        table.push_str(&format!(
            "[[price]]\nmodel = \"openai@{}/v1::m\"\ninput = 2.0\ncached = 0.5\noutput = 8.0\n\
             as_of = \"2026-01-01\"\nsource = \"test\"\n",
            url.uri()
        ));
    }
    ConnectSettings {
        timeout: Duration::from_millis(400),
        retry: RetryPolicy {
            max_attempts: 2,
            first_delay: Duration::from_millis(1),
            longest_delay: Duration::from_millis(4),
            deadline: Duration::from_secs(5),
        },
        prices: PriceTable::parse(&table).expect("prices"),
        ..ConnectSettings::standard()
    }
}

fn secrets() -> Arc<Secrets> {
    Arc::new(Secrets::from_lookup(|name| {
        (name == "OPENAI_API_KEY").then(|| KEY.to_owned())
    }))
}

fn proposer(servers: &[&MockServer], budget: &Arc<Budget>) -> LlmProposer {
    let connector = Connector::new(settings(servers), secrets(), Arc::clone(budget));
    let names: Vec<_> = servers
        .iter()
        .map(|server| format!("openai@{}/v1::m", server.uri()))
        .collect();
    let models = connector.connect(&names).expect("connect");
    LlmProposer::new(
        facts(),
        Templates::new(&BTreeMap::new()).expect("templates"),
        models.clone(),
        models,
        LlmProposerSettings {
            patience: Duration::ZERO,
            ..LlmProposerSettings::standard()
        },
    )
}

fn reply(text: &str) -> Value {
    json!({
        "model": "m", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 60}},
    })
}

async fn server(
    respond: impl Fn(&Request) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(respond)
        .mount(&server)
        .await;
    server
}

async fn good() -> MockServer {
    server(|request| {
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let prompt = body["messages"][1]["content"]
            .as_str()
            .expect("prompt")
            .to_owned();
        let text = if prompt.contains("CHOICE:") {
            "CHOICE: unroll\nUnroll the loop over rows by four."
        } else {
            "Here it is:\n```c\nvoid solution(int8_t a[4][4]) {\n  mvin(a, 1);\n}\n```\n"
        };
        ResponseTemplate::new(200).set_body_json(reply(text))
    })
    .await
}

#[tokio::test]
async fn a_plan_and_its_code_come_back_with_their_cost() {
    let server = good().await;
    let budget = Budget::unlimited();
    let proposer = proposer(&[&server], &budget);
    let plan = proposer.plan(&plan_request(0)).await.expect("a plan");
    assert_eq!(plan.value.menu_item, "unroll");
    assert_eq!(plan.value.text, "Unroll the loop over rows by four.");
    assert!(plan.value.proposer.starts_with("openai@http://127.0.0.1"));
    let usage = plan.exchanges[0].usage;
    assert_eq!(
        (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
        (40, 60, 50)
    );
    // 40 * 2 + 60 * 0.5 + 50 * 8 micro-dollars.
    assert_eq!(usage.cost, UsdMicros(510));
    let draft = proposer
        .implement(&implement_request())
        .await
        .expect("code");
    assert_eq!(
        draft.value.source,
        "void solution(int8_t a[4][4]) {\n  mvin(a, 1);\n}\n"
    );
    assert_eq!(budget.spent().cost, UsdMicros(1020));
}

#[tokio::test]
async fn a_malformed_reply_is_asked_for_once_more_and_then_given_up() {
    let server =
        server(|_| ResponseTemplate::new(200).set_body_json(reply("I like turtles."))).await;
    let budget = Budget::unlimited();
    let proposer = proposer(&[&server], &budget);
    let error = proposer
        .plan(&plan_request(0))
        .await
        .expect_err("no plan in it");
    assert_eq!(error.kind, ProposeErrorKind::Failed);
    assert!(error.message.contains("CHOICE"), "{error}");
    assert_eq!(error.exchanges.len(), 2);
    assert!(
        error.exchanges[1]
            .prompt
            .contains("Your reply cannot be used")
    );
    assert!(error.exchanges[1].prompt.contains("I like turtles."));
    assert_eq!(budget.spent().requests, 2);
}

/// Four models: one always rate-limited, one returning garbage, one too slow,
/// one good. Every sample is answered, and every cent is accounted for.
#[tokio::test]
async fn unreliable_models_pass_their_samples_on() {
    let limited = server(|_| ResponseTemplate::new(429)).await;
    let garbage = server(|_| ResponseTemplate::new(200).set_body_json(reply("Sure!"))).await;
    let slow = server(|_| {
        ResponseTemplate::new(200)
            .set_body_json(reply("late"))
            .set_delay(Duration::from_secs(3))
    })
    .await;
    let good = good().await;
    let budget = Budget::unlimited();
    let proposer = proposer(&[&limited, &garbage, &slow, &good], &budget);
    let mut exchanges = Vec::new();
    for plan in 0..16 {
        let reply = proposer
            .plan(&plan_request(plan))
            .await
            .expect("somebody answers");
        exchanges.extend(reply.exchanges);
    }
    let cost: u64 = exchanges.iter().map(|exchange| exchange.usage.cost.0).sum();
    let requests: u64 = exchanges
        .iter()
        .map(|exchange| exchange.usage.requests)
        .sum();
    assert_eq!(budget.spent().cost, UsdMicros(cost));
    assert_eq!(budget.spent().requests, requests);
    let health: Vec<_> = proposer
        .planners()
        .members()
        .iter()
        .map(|member| member.health())
        .collect();
    assert_eq!(health[3].answered, 16);
    for unreliable in &health[..3] {
        assert_eq!(unreliable.answered, 0);
        assert_eq!(
            unreliable.failed, 3,
            "set aside after three failures: {unreliable:?}"
        );
    }
    assert_eq!(health.iter().map(|health| health.cost.0).sum::<u64>(), cost);
    let text = format!("{exchanges:?}");
    assert!(!text.contains(KEY), "no key in any record");
}

#[tokio::test]
async fn samples_are_split_evenly_whatever_the_order() {
    let servers = [good().await, good().await, good().await];
    let servers: Vec<_> = servers.iter().collect();
    let budget = Budget::unlimited();
    let forward = proposer(&servers, &budget);
    let mut names = BTreeMap::new();
    for plan in 0..9 {
        names.insert(
            plan,
            forward
                .plan(&plan_request(plan))
                .await
                .expect("a plan")
                .value
                .proposer,
        );
    }
    for member in forward.planners().members() {
        assert_eq!(member.health().answered, 3);
    }
    let backward = proposer(&servers, &budget);
    for plan in (0..9).rev() {
        let reply = backward.plan(&plan_request(plan)).await.expect("a plan");
        assert_eq!(Some(&reply.value.proposer), names.get(&plan));
    }
}

#[tokio::test]
async fn a_spent_budget_and_a_wrong_key_stop_the_run() {
    let server = good().await;
    let caps = Caps {
        cost: Some(UsdMicros(150_000)),
        ..Caps::default()
    };
    let budget = Budget::new(caps, Amount::default());
    let proposer_with_cap = proposer(&[&server], &budget);
    let mut answered = 0;
    let error = loop {
        match proposer_with_cap.plan(&plan_request(answered)).await {
            Ok(_) => answered += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, ProposeErrorKind::Exhausted);
    assert!(error.message.contains("money cap"), "{error}");
    assert!(0 < answered && budget.spent().cost <= UsdMicros(150_000));
    // Resumed with a higher cap, it goes on.
    let resumed = Budget::new(
        Caps {
            cost: Some(UsdMicros(1_000_000)),
            ..caps
        },
        budget.spent(),
    );
    assert!(
        proposer(&[&server], &resumed)
            .plan(&plan_request(answered))
            .await
            .is_ok()
    );

    let refused = server_with_status(401).await;
    let proposer_without_key = proposer(&[&refused], &Budget::unlimited());
    let first = proposer_without_key
        .plan(&plan_request(0))
        .await
        .expect_err("401");
    assert_eq!(first.kind, ProposeErrorKind::Failed);
    let second = proposer_without_key
        .plan(&plan_request(1))
        .await
        .expect_err("set aside");
    assert_eq!(second.kind, ProposeErrorKind::Exhausted);
    assert!(!format!("{first:?}{second:?}").contains(KEY));
}

async fn server_with_status(status: u16) -> MockServer {
    server(move |_| {
        ResponseTemplate::new(status).set_body_json(
            json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}),
        )
    })
    .await
}

#[tokio::test]
async fn prompts_are_as_designed() {
    let server = good().await;
    let proposer = proposer(&[&server], &Budget::unlimited());
    let plan = proposer.plan_prompt(&plan_request(2)).expect("prompt");
    let code = proposer
        .implement_prompt(&implement_request())
        .expect("prompt");
    assert_eq!(
        plan.system, code.system,
        "plans and code share the cacheable prefix"
    );
    insta::assert_snapshot!("stable_prefix", plan.system);
    insta::assert_snapshot!("plan_request", plan.user);
    insta::assert_snapshot!("implement_request", code.user);
}

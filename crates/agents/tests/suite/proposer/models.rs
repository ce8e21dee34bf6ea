//! What is asked, what is accepted, and who is asked next.

use super::chat::{self, question, server};
use super::servers::{KEY, good, proposer, proposer_by, proposer_with, reply, secrets, settings};
use super::toy::{
    KERNEL, evaluation, facts, implement_request, key, menu, plan_request, repair_request,
};
use autocomp_agents::{
    CodeForm, IdeasRequest, ImplementRequest, LlmProposer, LlmProposerSettings, PromptForm,
    ProposeErrorKind, Proposer, RunShape, Templates,
};
use autocomp_core::{Purpose, Scope, UsdMicros};
use autocomp_llm::{Amount, Budget, Caps, ConnectSettings, Connector, LlmErrorKind, MemberHealth};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

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
        "void solution(int8_t a[4][4]) {\n  copy(a, 1);\n}\n"
    );
    assert_eq!(budget.spent().cost, UsdMicros(1020));
}

#[tokio::test]
async fn a_malformed_reply_is_asked_for_once_more_and_then_given_up() {
    let server = server(|_| reply("I like turtles.")).await;
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
    // How long the good one takes depends on the machine: it gets more and more time.
    let mut limit = Duration::from_millis(250);
    while !samples_are_passed_on(limit).await {
        limit *= 2;
    }
}

/// Returns whether the good model never took longer than `limit`.
async fn samples_are_passed_on(limit: Duration) -> bool {
    let limited = server(|_| ResponseTemplate::new(429)).await;
    let garbage = server(|_| reply("Sure!")).await;
    let slow = server(|_| reply("late").set_delay(Duration::from_secs(3600))).await;
    let good = good().await;
    let budget = Budget::unlimited();
    let mut connect = ConnectSettings {
        timeout: limit,
        ..settings(&[&limited, &garbage, &slow, &good])
    };
    // Whoever is set aside stays so.
    connect.breaker.first_pause = Duration::from_secs(3600);
    let proposer = proposer_by(connect, &[&limited, &garbage, &slow, &good], &budget);
    let health = || -> Vec<MemberHealth> {
        let members = proposer.planners().members().iter();
        members.map(|member| member.health()).collect()
    };
    let mut exchanges = Vec::new();
    for plan in 0..16 {
        let answer = proposer.plan(&plan_request(plan)).await;
        if health()[3].errors.contains_key(&LlmErrorKind::Timeout) {
            return false;
        }
        exchanges.extend(answer.expect("somebody answers").exchanges);
    }
    let cost: u64 = exchanges.iter().map(|exchange| exchange.usage.cost.0).sum();
    let requests: u64 = exchanges
        .iter()
        .map(|exchange| exchange.usage.requests)
        .sum();
    assert_eq!(budget.spent().cost, UsdMicros(cost));
    assert_eq!(budget.spent().requests, requests);
    let health = health();
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
    true
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
async fn a_failed_draft_is_repaired_with_its_diagnostics() {
    let server = good().await;
    let proposer = proposer(&[&server], &Budget::unlimited());
    let prompt = proposer
        .repair_prompt(&repair_request(), PromptForm::default())
        .expect("prompt");
    insta::assert_snapshot!("repair_request", prompt.user);
    let draft = proposer.repair(&repair_request()).await.expect("code");
    assert!(draft.value.source.contains("copy(a, 1)"));
}

#[tokio::test]
async fn edits_are_applied_and_wrong_ones_asked_for_again() {
    let server = server(|request| {
        let (body, _) = question(request);
        // The first reply names a line that the kernel does not have.
        let old = if body["messages"].as_array().map(Vec::len) == Some(2) {
            "copy(b, 0);"
        } else {
            "  copy(a, 0);"
        };
        let text = format!("<<<<<<< SEARCH\n{old}\n=======\n  copy(a, 2);\n>>>>>>> REPLACE\n");
        reply(&text)
    })
    .await;
    let proposer = proposer_with(&[&server], &Budget::unlimited(), CodeForm::Edits);
    let draft = proposer
        .implement(&implement_request())
        .await
        .expect("code");
    assert_eq!(
        draft.value.source,
        KERNEL.replace("copy(a, 0)", "copy(a, 2)")
    );
    assert_eq!(draft.exchanges.len(), 2);
    assert!(
        draft.exchanges[1]
            .prompt
            .contains("does not occur in the kernel")
    );
}

/// What the server charges for the prompts it really gets is what was estimated.
#[tokio::test]
async fn the_estimate_is_near_the_actual_cost() {
    let server = server(|request| {
        let (body, prompt) = question(request);
        let messages = body["messages"].as_array().expect("messages");
        let bytes: usize = messages
            .iter()
            .filter_map(|m| m["content"].as_str())
            .map(str::len)
            .sum();
        let plan = prompt.contains("# Possible optimizations");
        let text = if plan {
            format!(
                "CHOICE: unroll\n{}",
                "Unroll the loop by four. ".repeat(160)
            )
        } else {
            format!("```c\n{KERNEL}```")
        };
        // 3.5 bytes per token, and the prefix comes from the cache.
        let cached = messages[0]["content"].as_str().expect("prefix").len() * 2 / 7;
        let usage = json!({
            "prompt_tokens": bytes * 2 / 7,
            "completion_tokens": text.len() * 2 / 7,
            "prompt_tokens_details": {"cached_tokens": cached},
        });
        chat::reply(&text, &usage)
    })
    .await;
    let budget = Budget::unlimited();
    let proposer = proposer(&[&server], &budget);
    let shape = RunShape {
        parents: 1,
        plans: 4,
        drafts: 8,
        repairs: 16,
        iterations: 1,
    };
    let estimate = proposer
        .estimate(&shape, KERNEL, Some(&evaluation()), &menu())
        .expect("estimate");
    assert_eq!((estimate.calls, estimate.calls_with_failures), (12, 28));
    for plan in 0..4 {
        let reply = proposer.plan(&plan_request(plan)).await.expect("a plan");
        for draft in 0..2 {
            let request = ImplementRequest {
                key: key(plan, draft, Purpose::Draft),
                plan: reply.value.clone(),
                ..implement_request()
            };
            proposer.implement(&request).await.expect("code");
        }
    }
    let (expected, actual) = (estimate.cost.0 as f64, budget.spent().cost.0 as f64);
    assert!(
        (expected / actual - 1.0).abs() < 0.25,
        "estimated {expected}, actual {actual}"
    );
    assert!(estimate.cost < estimate.cost_without_cache);
    assert!(estimate.cost < estimate.cost_with_failures);
    assert!(estimate.cost_without_cache < estimate.highest_cost);
    assert!(estimate.cost_with_failures < estimate.highest_cost);
}

/// A program that answers like a model drives plans and code.
#[tokio::test]
async fn a_program_can_be_the_model() {
    let script = "command::sh -c 'if grep -q \"^CHOICE:\"; then echo \"CHOICE: unroll\"; \
                  echo \"Unroll the loop over rows by four.\"; else echo \"void solution(int8_t a[4][4]) { copy(a, 3); }\"; fi'";
    let budget = Budget::unlimited();
    let connector = Connector::new(settings(&[]), secrets(), Arc::clone(&budget));
    let models = connector.connect(&[script]).expect("connect");
    let proposer = LlmProposer::new(
        facts(),
        Templates::new(&BTreeMap::new()).expect("templates"),
        models.clone(),
        models,
        LlmProposerSettings::standard(),
    );
    let plan = proposer.plan(&plan_request(0)).await.expect("a plan");
    assert_eq!(plan.value.menu_item, "unroll");
    let draft = proposer
        .implement(&implement_request())
        .await
        .expect("code");
    assert_eq!(
        draft.value.source,
        "void solution(int8_t a[4][4]) { copy(a, 3); }\n"
    );
    // Tokens are guessed, as programs report none; money is not spent.
    assert_eq!(budget.spent().cost, UsdMicros(0));
    assert!(0 < budget.spent().tokens);
}

fn ideas_request() -> IdeasRequest {
    let request = plan_request(0);
    IdeasRequest {
        key: request.key,
        seed: request.seed,
        kernel: request.kernel,
        evaluation: request.evaluation,
        menu: request.menu,
        count: 5,
    }
}

#[tokio::test]
async fn new_menu_items_come_in_the_form_of_a_schema() {
    let server = server(|request| {
        let (body, _) = question(request);
        assert_eq!(body["response_format"]["json_schema"]["name"], "menu_items");
        let items = json!({"items": [
            {"id": "unroll", "text": "This one is in the menu already.", "applies_when": ""},
            {"id": "skew-loops", "text": "Skew the loops by one row.", "applies_when": "never"},
        ]});
        reply(&items.to_string())
    })
    .await;
    let proposer = proposer(&[&server], &Budget::unlimited());
    let items = proposer
        .generate_menu(&ideas_request())
        .await
        .expect("items")
        .value;
    assert_eq!(items.len(), 1);
    assert_eq!((&*items[0].id, items[0].scope), ("skew-loops", Scope::Idea));
}

#[tokio::test]
async fn a_model_that_is_set_aside_comes_back_and_people_hear_of_both() {
    let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let server = server(move |_| {
        // Broken for three requests of two calls each, then well again.
        match counter.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0..6 => ResponseTemplate::new(503),
            _ => reply("CHOICE: unroll\nUnroll the loop over rows by four."),
        }
    })
    .await;
    let mut connect = settings(&[&server]);
    connect.breaker.first_pause = Duration::from_millis(50);
    let caps = Caps {
        requests: Some(8),
        ..Caps::default()
    };
    let connector = Connector::new(connect, secrets(), Budget::new(caps, Amount::default()));
    let models = connector
        .connect(&[format!("openai@{}/v1::m", server.uri())])
        .expect("connect");
    let proposer = LlmProposer::new(
        facts(),
        Templates::new(&BTreeMap::new()).expect("templates"),
        models.clone(),
        models,
        LlmProposerSettings::standard(),
    );
    for plan in 0..3 {
        let error = proposer.plan(&plan_request(plan)).await.expect_err("503");
        assert_eq!(error.kind, ProposeErrorKind::Failed);
    }
    // Waits for the model rather than giving the sample up.
    proposer.plan(&plan_request(3)).await.expect("well again");
    let notices = connector.take_notices().join("\n");
    for words in [
        "50 %",
        "80 %",
        "is set aside (3 failures in a row",
        "answers again",
    ] {
        assert!(notices.contains(words), "{words} in {notices}");
    }
    assert!(connector.take_notices().is_empty());
    assert_eq!(connector.health()[0].answered, 1);
}

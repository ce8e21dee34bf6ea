//! The settings that change what is asked: schemas, ancestors, sections chosen by
//! a model, code without a plan.

use super::chat::{self, question};
use super::servers::reply;
use super::toy::{KERNEL, evaluation, facts, key};
use autocomp_agents::{
    Ancestor, CodeForm, ImplementRequest, IsaChoice, LlmProposer, LlmProposerSettings, PlanRequest,
    ProposeErrorKind, Proposer, StructuredOutput, Templates,
};
use autocomp_core::{
    MenuItem, Plan, PlanChoice, PlanKind, Purpose, RewriteError, RewritePlan, Rewriter, Seed,
    TaskKey,
};
use autocomp_llm::{Budget, ConnectSettings, Connector, Secrets};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wiremock::{MockServer, ResponseTemplate};

const FASTER: &str = "void solution(int8_t a[4][4]) {\n  copy(a, 1);\n}\n";

/// A server that answers a body with a text, or rejects it.
async fn server(
    answer: impl Fn(&Value) -> Result<String, u16> + Send + Sync + 'static,
) -> MockServer {
    chat::server(move |request| match answer(&question(request).0) {
        Err(status) => ResponseTemplate::new(status),
        Ok(text) => reply(&text),
    })
    .await
}

/// The same task in the third iteration.
fn third(key: TaskKey) -> TaskKey {
    TaskKey {
        iteration: 3,
        ..key
    }
}

fn proposer(server: &MockServer, change: impl FnOnce(&mut LlmProposerSettings)) -> LlmProposer {
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let models = connector
        .connect(&[format!("vllm@{}/v1::m", server.uri())])
        .expect("connect");
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

fn plan_request(plan: u32) -> PlanRequest {
    let ancestor = |cycles: u64| Ancestor {
        kernel: format!("void solution(int8_t a[4][4]) {{ /* {cycles} */ }}"),
        cost: Some(cycles),
        menu_item: "unroll".to_owned(),
        plan: format!("Change what takes {cycles} cycles."),
    };
    PlanRequest {
        key: third(key(plan, 0, Purpose::Plan)),
        place: 0,
        number: plan,
        seed: Seed(7),
        iterations: 8,
        kernel: KERNEL.to_owned(),
        evaluation: Arc::new(evaluation()),
        ancestors: [ancestor(3000), ancestor(2000)].into(),
        tried: Arc::default(),
        earlier: Arc::default(),
        lessons: Arc::default(),
        first_asked: None,
        kind: PlanKind::Step,
        hidden: Vec::new(),
        other: None,
        reused: None,
        menu: ["unroll", MenuItem::OTHER]
            .map(|id| MenuItem {
                id: id.to_owned(),
                text: format!("Do {id}."),
                ..MenuItem::default()
            })
            .to_vec(),
    }
}

fn implement_request(plan: Plan) -> ImplementRequest {
    ImplementRequest {
        key: third(key(0, 0, Purpose::Draft)),
        seed: Seed(7),
        kernel: KERNEL.to_owned(),
        evaluation: Arc::new(evaluation()),
        plan,
        number: 0,
        repeats: 0,
        other: None,
        first_asked: None,
    }
}

fn prompt_of(body: &Value) -> &str {
    body["messages"][1]["content"].as_str().expect("prompt")
}

/// Knows one script and carries it out.
#[derive(Debug)]
struct Unrolling;

impl Rewriter for Unrolling {
    fn script_format(&self) -> Option<&str> {
        Some("A script is a list of factors.")
    }

    fn scripts(&self, _: &str, _: usize) -> Vec<(String, String)> {
        vec![("[2]".to_owned(), "Unroll by two.".to_owned())]
    }

    fn of_script(&self, _: &str, script: &str) -> Result<String, RewriteError> {
        match script.trim() {
            "[4]" => Ok("by four".to_owned()),
            _ => Err(RewriteError::Script("only 4 divides the rows".to_owned())),
        }
    }

    fn plan(&self, _: &str, _: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        Err(RewriteError::Nothing)
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        match draft {
            0 => Ok(format!("{source}// {payload}\n")),
            _ => Err(RewriteError::Nothing),
        }
    }
}

#[tokio::test]
async fn a_plan_that_is_a_script_is_carried_out_without_a_call() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let model = server(move |body| {
        let messages = body["messages"].to_string();
        assert!(messages.contains("# Scripts"), "{messages}");
        assert!(messages.contains("A script is a list of factors."));
        assert!(messages.contains("`[2]`: Unroll by two."));
        let factor = match count.fetch_add(1, Ordering::Relaxed) {
            0 => 3,
            _ => {
                assert!(messages.contains("only 4 divides the rows"), "{messages}");
                4
            }
        };
        Ok(format!(
            "CHOICE: unroll\n\nUnroll the loop over rows.\n\n```script\n[{factor}]\n```\n"
        ))
    })
    .await;
    let proposer = proposer(&model, |settings| {
        settings.structured_output = StructuredOutput::Never;
    });
    let proposer = proposer.with_scripts(Some(Arc::new(Unrolling)));
    // A script that does not apply is asked for again, with the reason.
    let plan = proposer.plan(&plan_request(0)).await.expect("a plan").value;
    assert_eq!(
        (plan.menu_item.as_str(), plan.payload.as_str()),
        ("unroll", "by four")
    );
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let request = implement_request(plan);
    let reply = proposer.implement(&request).await.expect("a draft");
    assert_eq!(reply.value.source, format!("{KERNEL}// by four\n"));
    assert_eq!(
        (reply.value.proposer.as_str(), reply.exchanges.len()),
        ("rewriter", 0)
    );
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    // There is one way to carry it out.
    let key = TaskKey {
        draft: 1,
        ..request.key
    };
    let second = proposer
        .implement(&ImplementRequest { key, ..request })
        .await;
    assert_eq!(
        second.expect_err("no draft").kind,
        ProposeErrorKind::Nothing
    );
}

const PLAN: &str = "{\"choice\": \"unroll\", \"plan\": \"Unroll the loop over rows by four.\"}";

#[tokio::test]
async fn plans_are_held_to_a_schema_unless_told_otherwise() {
    let model = server(|body| match body.get("response_format") {
        Some(format) => {
            let schema = &format["json_schema"]["schema"];
            assert_eq!(
                schema["properties"]["choice"]["enum"],
                json!(["unroll", "other"])
            );
            assert!(prompt_of(body).contains("{\"choice\": "));
            assert!(!prompt_of(body).contains("CHOICE:"));
            Ok(PLAN.to_owned())
        }
        None => {
            assert!(prompt_of(body).contains("CHOICE:"));
            Ok("CHOICE: unroll\nUnroll the loop over rows by four.".to_owned())
        }
    })
    .await;
    for form in [
        StructuredOutput::Never,
        StructuredOutput::Plans,
        StructuredOutput::All,
    ] {
        let proposer = proposer(&model, |settings| settings.structured_output = form);
        let plan = proposer.plan(&plan_request(0)).await.expect("a plan").value;
        assert_eq!(plan.menu_item, "unroll");
        assert_eq!(plan.text, "Unroll the loop over rows by four.");
    }
    let asked = model.received_requests().await.expect("recorded");
    let schemas = asked
        .iter()
        .filter(|request| String::from_utf8_lossy(&request.body).contains("json_schema"))
        .count();
    assert_eq!((asked.len(), schemas), (3, 2));
}

#[tokio::test]
async fn edits_are_held_to_a_schema_if_asked_for() {
    let model = server(|body| {
        let schema = &body["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["properties"]["edits"]["type"], "array");
        assert!(!prompt_of(body).contains("SEARCH"));
        Ok("{\"edits\": [{\"old\": \"copy(a, 0);\", \"new\": \"copy(a, 1);\"}]}".to_owned())
    })
    .await;
    let proposer = proposer(&model, |settings| {
        settings.structured_output = StructuredOutput::All;
        settings.code_form = CodeForm::Edits;
    });
    let plan = Plan {
        menu_item: "unroll".to_owned(),
        text: "Use row 1.".to_owned(),
        payload: String::new(),
        proposer: "m".to_owned(),
    };
    let draft = proposer.implement(&implement_request(plan)).await;
    assert_eq!(draft.expect("code").value.source, FASTER);
}

#[tokio::test]
async fn a_model_without_schemas_is_asked_in_words() {
    let model = server(|body| match body.get("response_format") {
        Some(_) => Err(400),
        // The first prompt still asks for JSON, the later ones do not.
        None if prompt_of(body).contains("CHOICE:") => {
            Ok("CHOICE: unroll\nUnroll the loop over rows by four.".to_owned())
        }
        None => Ok(PLAN.to_owned()),
    })
    .await;
    let proposer = proposer(&model, |_| {});
    for plan in 0..2 {
        let reply = proposer.plan(&plan_request(plan)).await.expect("a plan");
        assert_eq!(reply.value.menu_item, "unroll");
        // The rejected call stands in the record, too.
        assert_eq!(reply.exchanges.len(), if plan == 0 { 2 } else { 1 });
    }
}

#[tokio::test]
async fn ancestors_are_shown_if_asked_for() {
    let model = server(|_| Ok(PLAN.to_owned())).await;
    let shown = async |count: usize| {
        let proposer = proposer(&model, |settings| settings.ancestors = count);
        let reply = proposer.plan(&plan_request(0)).await.expect("a plan");
        let prompt = reply.exchanges[0].prompt.clone();
        [3000, 2000].map(|cycles| prompt.contains(&format!("Change what takes {cycles} cycles.")))
    };
    assert_eq!(shown(0).await, [false, false]);
    assert_eq!(shown(1).await, [false, true]);
    assert_eq!(shown(5).await, [true, true]);
}

/// The model is asked once for each kernel, and what it says is in the record.
#[tokio::test]
async fn a_model_chooses_sections_of_the_reference() {
    let model = server(|body| {
        if body.to_string().contains("# Sections of the reference") {
            return Ok("{\"sections\": [3]}".to_owned());
        }
        let prefix = body["messages"][0]["content"].as_str().expect("prefix");
        assert!(prefix.contains("What Moving out does."));
        assert!(
            prefix.contains("What Fences does."),
            "it concerns every kernel"
        );
        assert!(!prefix.contains("What Moving in does."));
        Ok(PLAN.to_owned())
    })
    .await;
    let proposer = proposer(&model, |settings| settings.isa = IsaChoice::Model);
    let (first, second) = (plan_request(0), plan_request(1));
    let (first, second) = tokio::join!(proposer.plan(&first), proposer.plan(&second));
    let counts = [first, second].map(|reply| reply.expect("a plan").exchanges.len());
    assert_eq!(counts.iter().sum::<usize>(), 3, "{counts:?}");
}

#[tokio::test]
async fn without_a_usable_choice_symbols_decide() {
    let model = server(|body| {
        if body.to_string().contains("# Sections of the reference") {
            return Ok("all of them".to_owned());
        }
        let prefix = body["messages"][0]["content"].as_str().expect("prefix");
        assert!(prefix.contains("What Moving in does."));
        assert!(!prefix.contains("What Moving out does."));
        Ok(PLAN.to_owned())
    })
    .await;
    let proposer = proposer(&model, |settings| settings.isa = IsaChoice::Model);
    let reply = proposer.plan(&plan_request(0)).await.expect("a plan");
    // Asked, asked again, and the plan; the complaints are in the record.
    assert_eq!(reply.exchanges.len(), 3);
    let error = reply.exchanges[1].error.as_deref().expect("a complaint");
    assert!(error.starts_with("malformed: "), "{error}");
    let again = proposer.plan(&plan_request(1)).await.expect("a plan");
    assert_eq!(
        again.exchanges.len(),
        1,
        "it is not asked about this kernel again"
    );
}

#[tokio::test]
async fn code_can_be_asked_for_without_a_plan() {
    let model = server(|body| {
        let prompt = prompt_of(body);
        assert!(
            prompt.contains("`unroll`")
                && prompt.contains("phase 3 of 8")
                // What plans are told is told to whoever chooses without one.
                && prompt.contains("Change what takes 2000 cycles."),
            "{prompt}"
        );
        Ok(format!("CHOICE: unroll\n```c\n{FASTER}```"))
    })
    .await;
    let proposer = proposer(&model, |settings| {
        settings.direct = true;
        settings.ancestors = 1;
    });
    let plan = proposer.plan(&plan_request(0)).await.expect("a plan");
    assert!(plan.exchanges.is_empty());
    let draft = proposer
        .implement(&implement_request(plan.value))
        .await
        .expect("code");
    assert_eq!(
        (draft.value.source.as_str(), draft.exchanges.len()),
        (FASTER, 1)
    );
}

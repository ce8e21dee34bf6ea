//! Whole runs with language models: local servers of different reliability, a
//! program, and a folder in which somebody answers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::chat;

use autocomp_agents::{LlmProposer, LlmProposerSettings, PromptFacts, Templates};
use autocomp_core::{
    ContentHash, Cost, Evaluation, Event, Measurement, MenuItem, Outcome, Resumed, SearchSettings,
    Seed, StopReason, Usage, UsdMicros,
};
use autocomp_eval::{EvalError, Evaluator};
use autocomp_llm::{
    Amount, Budget, Caps, ConnectSettings, Connector, LlmErrorKind, PriceTable, RetryPolicy,
    Secrets,
};
use autocomp_runner::{NewRun, Notice, RunEnd, RunOptions, RunSession, RunView};
use autocomp_search::Search;
use chat::{question, server};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wiremock::{MockServer, ResponseTemplate};

const KEY: &str = "sk-planted-key-0003";

/// Kernels wait for some cycles; the evaluator counts them.
fn kernel(wait: u64) -> String {
    format!("void solution(int8_t a[4]) {{\n  wait({wait});\n}}\n")
}

fn wait_in(kernel: &str) -> Option<u64> {
    kernel
        .split("wait(")
        .nth(1)?
        .split(')')
        .next()?
        .parse()
        .ok()
}

struct Waits;

impl Evaluator for Waits {
    fn key(&self, source: &str) -> ContentHash {
        ContentHash::of(source.as_bytes())
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        let wait = wait_in(source);
        Ok(Evaluation {
            key: self.key(source),
            outcome: if wait.is_some() {
                Outcome::Ok
            } else {
                Outcome::BuildFailed
            },
            diagnostics: Vec::new(),
            measurement: wait.map(|wait| Measurement {
                cost: Cost::cycles(1000 + wait),
                figures: [
                    ("cold".to_owned(), 1100 + wait),
                    ("instructions".to_owned(), wait),
                ]
                .into(),
                samples: Vec::new(),
                ratio_to_baseline: None,
                floor: Cost::cycles(1000),
                percent_of_peak: 100_000.0 / (1000 + wait) as f64,
                engine: "toy".to_owned(),
                compiler: "toy 1".to_owned(),
            }),
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        })
    }
}

/// Answers a prompt as a good model would: with a plan, or with a kernel that waits less.
fn answer(prompt: &str) -> String {
    if prompt.contains("# Possible optimizations") {
        return "CHOICE: shorten\nWait for a tenth less than the current kernel does.".to_owned();
    }
    let wait = wait_in(prompt).unwrap();
    format!("```c\n{}```", kernel(wait * 9 / 10))
}

fn reply(text: &str) -> ResponseTemplate {
    let usage = json!({"prompt_tokens": 500, "completion_tokens": 100});
    chat::reply(text, &usage)
}

async fn good() -> MockServer {
    server(|request| reply(&answer(&question(request).1))).await
}

fn connector(models: &[String], budget: &Arc<Budget>) -> Connector {
    // Nothing takes that long, however busy the machine.
    connector_with(models, budget, Duration::from_secs(3600))
}

fn connector_with(models: &[String], budget: &Arc<Budget>, timeout: Duration) -> Connector {
    let mut prices = "version = 1\n".to_owned();
    for model in models.iter().filter(|model| model.starts_with("openai")) {
        prices.push_str(&format!(
            "[[price]]\nmodel = \"{model}\"\ninput = 2.0\noutput = 10.0\n\
             as_of = \"2026-01-01\"\nsource = \"test\"\n"
        ));
    }
    let mut settings = ConnectSettings {
        timeout,
        answer_timeout: Duration::from_secs(3600),
        retry: RetryPolicy {
            max_attempts: 2,
            first_delay: Duration::from_millis(1),
            longest_delay: Duration::from_millis(4),
            deadline: Duration::from_secs(7200),
        },
        prices: PriceTable::parse(&prices).unwrap(),
        ..ConnectSettings::standard()
    };
    // Whoever is set aside stays so, however long the run takes.
    settings.breaker.first_pause = Duration::from_secs(3600);
    let secrets = Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    Connector::new(settings, Arc::new(secrets), Arc::clone(budget))
}

fn proposer(connector: &Connector, models: &[String]) -> LlmProposer {
    let facts = PromptFacts {
        target: "toy".to_owned(),
        target_description: "A machine that waits.".to_owned(),
        syntax: &autocomp_c::C,
        unit: autocomp_core::Unit::Cycles,
        language: "C".to_owned(),
        constants: Vec::new(),
        counters: BTreeMap::new(),
        schedule_rules: Vec::new(),
        architecture: String::new(),
        isa: Vec::new(),
        general_rules: Vec::new(),
        plan_rules: Vec::new(),
        code_rules: Vec::new(),
        examples: Vec::new(),
        problem: "toy/wait".to_owned(),
        problem_description: "Waits.".to_owned(),
        buffers: Vec::new(),
        tolerance: None,
        work: None,
        entry: "solution".to_owned(),
        signature: "void solution(int8_t a[4])".to_owned(),
    };
    let models = connector.connect(models).unwrap();
    let templates = Templates::new(&BTreeMap::new()).unwrap();
    let settings = LlmProposerSettings {
        max_output_tokens: 2000,
        ..LlmProposerSettings::standard()
    };
    LlmProposer::new(Arc::new(facts), templates, models.clone(), models, settings)
}

fn new_run() -> NewRun {
    let item = |id: &str| MenuItem {
        id: id.to_owned(),
        text: format!("Apply {id}."),
        ..MenuItem::default()
    };
    NewRun {
        program: "0.1.0".to_owned(),
        target: "toy".to_owned(),
        problem: "toy/wait".to_owned(),
        compiler: "toy 1".to_owned(),
        meaningful_indentation: false,
        proposers: vec!["llm".to_owned()],
        seed: Seed(5),
        settings: SearchSettings {
            beam: 2,
            plans: 2,
            drafts: 1,
            repairs: 0,
            iterations: 4,
            patience: 0,
            max_evaluations: None,
            // Every prompt offers the item that the models choose.
            menu_dropout: 0.0,
            ..SearchSettings::default()
        },
        menu: vec![item("shorten"), item(MenuItem::OTHER)],
        baseline: kernel(1000),
        taken: Vec::new(),
        confirmers: Vec::new(),
        reused: Vec::new(),
        lessons: Vec::new(),
        extensions: Vec::new(),
        spec: None,
    }
}

async fn work_on(session: &mut RunSession, proposer: LlmProposer) -> RunEnd {
    session
        .execute(
            Arc::new(proposer),
            Arc::new(Waits),
            &RunOptions::new(2),
            &mut |_: &Notice<'_>| {},
            &CancellationToken::new(),
        )
        .await
        .unwrap()
}

/// Returns whether `needle` stands in a file of the folder, compressed ones included.
fn occurs(folder: &Path, needle: &str) -> bool {
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(needle);
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return occurs(&path, needle);
        }
        let bytes = std::fs::read(path).unwrap();
        holds(&bytes) || zstd::decode_all(&bytes[..]).is_ok_and(|bytes| holds(&bytes))
    })
}

/// One model is always rate-limited, one returns garbage that echoes the key,
/// one never answers in time, one is good: the run ends well, and its journal
/// accounts for every cent and token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_unreliable_models_ends_well() {
    // How long the good one takes depends on the machine: it gets more and more time.
    let mut limit = Duration::from_secs(1);
    while !a_run_ends_well(limit).await {
        limit *= 2;
    }
}

/// Returns whether the good model never took longer than `limit`.
async fn a_run_ends_well(limit: Duration) -> bool {
    let limited = server(|_| ResponseTemplate::new(429)).await;
    let garbage = server(|_| reply(&format!("Your key is {KEY}, have a nice day."))).await;
    let slow = server(|_| reply("late").set_delay(Duration::from_secs(3600))).await;
    let good = good().await;
    let models: Vec<_> = [&limited, &garbage, &slow, &good]
        .map(|server| format!("openai@{}/v1::m", server.uri()))
        .into();
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    let budget = Budget::unlimited();
    let connector = connector_with(&models, &budget, limit);
    let mut session = RunSession::create(&folder, new_run(), &Waits).unwrap();
    let end = work_on(&mut session, proposer(&connector, &models)).await;
    session.close().unwrap();
    let health = connector.health();
    let of_good = health.iter().find(|it| it.model == models[3]).unwrap();
    if of_good.errors.contains_key(&LlmErrorKind::Timeout) {
        return false;
    }
    assert!(end.finish.is_some(), "{:?}", end.stop);
    assert!(end.progress.best.unwrap().cost < Cost::cycles(1700));
    let (usage, spent) = (end.progress.usage, budget.spent());
    assert_eq!(usage.cost, spent.cost);
    assert_eq!(usage.requests, spent.requests);
    assert_eq!(
        usage.input_tokens + usage.cached_tokens + usage.output_tokens,
        spent.tokens
    );
    assert_eq!(health.iter().filter(|model| 0 < model.answered).count(), 1);
    assert_eq!(
        connector.take_notices().len(),
        3,
        "three models were set aside"
    );
    assert!(occurs(&folder, "[OPENAI_API_KEY]"), "the echo was recorded");
    assert!(!occurs(&folder, KEY), "no key in any file");
    assert_every_prefix_accounts_for_its_calls(&folder);
    true
}

/// Wherever the journal ends, every call that was let go before is in it: with
/// what it used, or with the most that it may have used.
fn assert_every_prefix_accounts_for_its_calls(folder: &Path) {
    let view = RunView::open(folder).unwrap();
    let events: Vec<&Event> = view.events.iter().map(|stored| &stored.event).collect();
    let mut sent = 0;
    for n_events in 1..=events.len() {
        let is_call = matches!(events[n_events - 1], Event::Reserved(_));
        sent += u64::from(is_call);
        let mut search = Search::fold(events[..n_events].iter().copied()).unwrap();
        let (used, unsettled) = (search.usage(), search.unsettled());
        assert_eq!(used.requests + unsettled.requests, sent);
        if search.finish().is_some() {
            assert_eq!(unsettled, Usage::default());
            continue;
        }
        let resumed = Event::Resumed(Resumed {
            program: "0.1.0".to_owned(),
        });
        search.apply(&resumed).unwrap();
        let mut all = used;
        all.add(&unsettled);
        assert_eq!(
            (search.usage(), search.unsettled()),
            (all, Usage::default())
        );
        assert_eq!(search.progress().lost, unsettled);
    }
    assert!(4 < sent, "{sent}");
}

/// A cap on money stops the run before it is exceeded; with a higher one, it goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_stops_at_its_cap_and_can_be_resumed() {
    let good = good().await;
    let models = vec![format!("openai@{}/v1::m", good.uri())];
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    let cap = |dollars: f64| Caps {
        cost: Some(UsdMicros((dollars * 1e6) as u64)),
        ..Caps::default()
    };
    let budget = Budget::new(cap(0.03), Amount::default());
    let mut session = RunSession::create(&folder, new_run(), &Waits).unwrap();
    let end = work_on(
        &mut session,
        proposer(&connector(&models, &budget), &models),
    )
    .await;
    session.close().unwrap();
    let stop = end.stop.unwrap();
    assert_eq!(stop.reason, StopReason::Exhausted);
    assert!(
        stop.message.contains("money cap of $0.0300"),
        "{}",
        stop.message
    );
    assert!(UsdMicros(0) < end.progress.usage.cost && end.progress.usage.cost <= UsdMicros(30_000));

    let mut session = RunSession::resume(&folder, "0.1.0").unwrap();
    let used = session.search().usage();
    let spent = Amount {
        cost: used.cost,
        tokens: used.input_tokens + used.cached_tokens + used.output_tokens,
        requests: used.requests,
    };
    assert_eq!(spent, budget.spent());
    let budget = Budget::new(cap(1.0), spent);
    let end = work_on(
        &mut session,
        proposer(&connector(&models, &budget), &models),
    )
    .await;
    session.close().unwrap();
    assert!(end.finish.is_some(), "{:?}", end.stop);
    assert_eq!(end.progress.usage.cost, budget.spent().cost);

    // The same run without a cap comes to the same kernel.
    let undisturbed = root.path().join("undisturbed");
    let mut session = RunSession::create(&undisturbed, new_run(), &Waits).unwrap();
    let budget = Budget::unlimited();
    let whole = work_on(
        &mut session,
        proposer(&connector(&models, &budget), &models),
    )
    .await;
    let cycles = |end: &RunEnd| end.progress.best.as_ref().map(|best| best.cost);
    assert_eq!(cycles(&end), cycles(&whole));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_drives_a_whole_run() {
    let script = "command::sh -c 'prompt=$(cat); case \"$prompt\" in *CHOICE:*) \
                  printf \"CHOICE: shorten\\nWait for one cycle less than before.\\n\";; \
                  *) n=$(printf %s \"$prompt\" | sed -n \"s/^[0-9 |]*wait(\\([0-9]*\\)).*/\\1/p\" | head -n 1); \
                  printf \"void solution(int8_t a[4]) {\\n  wait(%d);\\n}\\n\" $((n - 1));; esac'";
    let models = vec![script.to_owned()];
    let root = tempfile::tempdir().unwrap();
    let budget = Budget::unlimited();
    let mut session = RunSession::create(&root.path().join("run"), new_run(), &Waits).unwrap();
    let end = work_on(
        &mut session,
        proposer(&connector(&models, &budget), &models),
    )
    .await;
    assert!(end.finish.is_some(), "{:?}", end.stop);
    assert_eq!(
        end.progress.best.unwrap().cost,
        Cost::cycles(1996),
        "one cycle per iteration"
    );
    assert_eq!(end.progress.usage.cost, UsdMicros(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_drives_a_whole_run() {
    let root = tempfile::tempdir().unwrap();
    let mailbox = root.path().join("mailbox");
    let models = vec![format!("mailbox::{}", mailbox.display())];
    let connector = connector(&models, &Budget::unlimited());
    let proposer = proposer(&connector, &models);
    // Somebody who looks into the folder now and then.
    let somebody = tokio::spawn(async move {
        loop {
            for entry in std::fs::read_dir(&mailbox).unwrap() {
                let path = entry.unwrap().path();
                let name = path.to_string_lossy().into_owned();
                let Some(stem) = name.strip_suffix(".request.md") else {
                    continue;
                };
                // The request may have been answered and tidied away meanwhile.
                let Ok(prompt) = std::fs::read_to_string(&path) else {
                    continue;
                };
                std::fs::write(format!("{stem}.part"), answer(&prompt)).unwrap();
                std::fs::rename(format!("{stem}.part"), format!("{stem}.answer.md")).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    });
    let mut session = RunSession::create(&root.path().join("run"), new_run(), &Waits).unwrap();
    let end = work_on(&mut session, proposer).await;
    somebody.abort();
    assert!(end.finish.is_some(), "{:?}", end.stop);
    assert!(end.progress.best.unwrap().cost < Cost::cycles(1700));
}

/// A run that is stopped does not wait for replies, but knows what they may have cost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_a_stop_cuts_off_are_accounted_for() {
    let cancel = CancellationToken::new();
    let asked = cancel.clone();
    // The first call is answered with an error, and the stop comes with the second.
    let calls = std::sync::atomic::AtomicU32::new(0);
    let slow = server(move |_| {
        if calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return reply("");
        }
        asked.cancel();
        reply("late").set_delay(Duration::from_secs(3600))
    })
    .await;
    let models = vec![format!("openai@{}/v1::m", slow.uri())];
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    let budget = Budget::unlimited();
    let mut run = new_run();
    (run.settings.beam, run.settings.plans) = (1, 1);
    let mut session = RunSession::create(&folder, run, &Waits).unwrap();
    let options = RunOptions {
        grace: Duration::from_millis(300),
        ..RunOptions::new(2)
    };
    let end = session
        .execute(
            Arc::new(proposer(&connector(&models, &budget), &models)),
            Arc::new(Waits),
            &options,
            &mut |_: &Notice<'_>| {},
            &cancel,
        )
        .await
        .unwrap();
    session.close().unwrap();
    assert_eq!(end.stop.unwrap().reason, StopReason::Interrupted);
    // The run waits for those that are given up for a while only.
    while budget.in_flight() != Amount::default() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let spent = budget.spent();
    assert_eq!(spent.requests, 2);

    let session = RunSession::resume(&folder, "0.1.0").unwrap();
    let used = session.search().usage();
    assert_eq!(used.requests, 2);
    assert_eq!(used.cost, spent.cost);
    assert_eq!(
        used.input_tokens + used.cached_tokens + used.output_tokens,
        spent.tokens
    );
    // 2000 tokens of output at $10 per million: the reply may have been whole.
    assert!(UsdMicros(20_000) < used.cost, "{:?}", used.cost);
}

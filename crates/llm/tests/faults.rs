//! Connections that break, drip or never open; programs and folders that misbehave.

use autocomp_llm::{
    Availability, Budget, CommandClient, ConnectSettings, Connector, LlmClient, LlmErrorKind,
    MailboxClient, ModelSpec, NetworkClient, Price, ReplySchema, Request, Retried, RetryPolicy,
    ScriptedClient, Secrets, Timed, check_models,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

fn request() -> Request {
    Request::new("You write plans.", "Write one.", 1000)
}

fn spec(text: &str) -> ModelSpec {
    text.parse().expect(text)
}

/// Serves one connection with pieces of raw bytes, each followed by a pause, then closes it.
async fn raw_server(pieces: Vec<&'static str>, pause: Duration) -> ModelSpec {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accept");
        let mut request = [0; 1 << 16];
        let _ = stream.read(&mut request).await;
        for piece in pieces {
            if stream.write_all(piece.as_bytes()).await.is_err() {
                return;
            }
            let _ = stream.flush().await;
            tokio::time::sleep(pause).await;
        }
    });
    spec(&format!("openai@http://{address}/v1::m"))
}

async fn kind_from(spec: &ModelSpec, limit: Duration) -> LlmErrorKind {
    let client = NetworkClient::new(spec, &Secrets::default()).expect("client");
    Timed::new(client, limit)
        .complete(&request())
        .await
        .expect_err("it fails")
        .kind
}

#[tokio::test]
async fn cut_connections_are_connection_errors() {
    let long = Duration::from_secs(20);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n";
    for pieces in [
        vec![],
        vec!["HTTP/1.1 200 O"],
        vec![head],
        vec![head, "{\"choices\": ["],
    ] {
        let spec = raw_server(pieces.clone(), Duration::ZERO).await;
        assert_eq!(
            kind_from(&spec, long).await,
            LlmErrorKind::Connection,
            "{pieces:?}"
        );
    }
    // Nobody listens there.
    let unused = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = unused.local_addr().expect("address");
    drop(unused);
    let spec = spec(&format!("openai@http://{address}/v1::m"));
    assert_eq!(kind_from(&spec, long).await, LlmErrorKind::Connection);
}

#[tokio::test]
async fn a_dripping_reply_ends_at_the_time_limit() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n";
    let mut pieces = vec![head];
    pieces.extend(std::iter::repeat_n(" ", 1000));
    let spec = raw_server(pieces, Duration::from_millis(50)).await;
    assert_eq!(
        kind_from(&spec, Duration::from_millis(400)).await,
        LlmErrorKind::Timeout
    );
}

/// A server that sends without end is cut off, whatever format its model has.
#[tokio::test]
async fn an_endless_reply_is_not_read() {
    for provider in [
        "openai",
        "anthropic",
        "gemini",
        "bedrock",
        "ollama",
        "vertex",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("address");
        let flood = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut request = [0; 1 << 16];
            let _ = stream.read(&mut request).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[";
            stream.write_all(head.as_bytes()).await.expect("written");
            let chunk = "0,".repeat(1 << 15);
            let mut sent = 0;
            // Until the client hangs up.
            while stream.write_all(chunk.as_bytes()).await.is_ok() {
                sent += chunk.len();
            }
            sent
        });
        let spec = spec(&format!("{provider}@http://{address}/v1::m"));
        let kind = kind_from(&spec, Duration::from_secs(60)).await;
        assert_eq!(kind, LlmErrorKind::Oversized, "{provider}");
        let sent = flood.await.expect("joined");
        // What it sent beyond the limit lay in the buffers of the connection.
        assert!(sent < 32 << 20, "{provider}: {sent} bytes");
    }
}

/// A program that always fails is asked once per request, and given up after three.
#[tokio::test]
async fn a_program_that_never_works_is_given_up_at_once() {
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let set = connector
        .connect(&["command::sh -c 'echo no licence >&2; exit 3'"])
        .expect("connect");
    let member = &set.members()[0];
    for _ in 0..3 {
        let error = member.complete(&request()).await.expect_err("fails");
        assert_eq!(
            (error.kind, error.attempts.len()),
            (LlmErrorKind::ProgramFailed, 1)
        );
    }
    let Availability::Lost { reason } = member.breaker().admit() else {
        panic!("it is still asked");
    };
    assert!(reason.contains("no licence"), "{reason}");
    assert!(set.next_probe().is_none());
    let notices = connector.take_notices().join("\n");
    assert!(
        notices.contains("is set aside (it never answered"),
        "{notices}"
    );
}

/// A server without JSON schemas is asked without one from then on.
#[tokio::test]
async fn a_rejected_schema_is_left_out() {
    let server = wiremock::MockServer::start().await;
    let respond = |request: &wiremock::Request| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).expect("json");
        if body.get("response_format").is_some() {
            return wiremock::ResponseTemplate::new(400)
                .set_body_string("response_format is not supported");
        }
        let reply = serde_json::json!({"choices": [{"message": {"content": "A plan."}}]});
        wiremock::ResponseTemplate::new(200).set_body_json(reply)
    };
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(respond)
        .mount(&server)
        .await;
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let model = format!("vllm@{}/v1::m", server.uri());
    let set = connector.connect(&[model]).expect("connect");
    let member = &set.members()[0];
    assert!(member.has_structured_output());
    let mut with_schema = request();
    with_schema.schema = Some(ReplySchema {
        name: "plan".to_owned(),
        schema: serde_json::json!({"type": "object"}),
    });
    let first = member.complete(&with_schema).await.expect("answered");
    assert_eq!(first.attempts.len(), 2);
    assert!(!member.has_structured_output());
    let second = member.complete(&with_schema).await.expect("answered");
    assert_eq!(second.attempts.len(), 1);
    let notices = connector.take_notices().join("\n");
    assert!(notices.contains("does not take JSON schemas"), "{notices}");
}

fn policy(max_attempts: usize, deadline: Duration) -> RetryPolicy {
    RetryPolicy {
        max_attempts,
        first_delay: Duration::from_secs(1),
        longest_delay: Duration::from_secs(8),
        deadline,
    }
}

#[tokio::test(start_paused = true)]
async fn retries_stop_at_success_at_the_limit_and_at_hopeless_errors() {
    let cases = [
        (
            vec![Err(LlmErrorKind::Overload), Ok("A plan.".to_owned())],
            None,
            2,
        ),
        (
            vec![Err(LlmErrorKind::Empty); 5],
            Some(LlmErrorKind::Empty),
            3,
        ),
        (vec![Err(LlmErrorKind::Auth)], Some(LlmErrorKind::Auth), 1),
        (
            vec![Err(LlmErrorKind::ContextTooLong)],
            Some(LlmErrorKind::ContextTooLong),
            1,
        ),
        (
            vec![Err(LlmErrorKind::Refused)],
            Some(LlmErrorKind::Refused),
            1,
        ),
    ];
    for (replies, error, calls) in cases {
        let script = Arc::new(ScriptedClient::new("openai::m", replies));
        let retried = Retried::new(Arc::clone(&script), policy(3, Duration::from_secs(600)));
        let result = retried.complete(&request()).await;
        assert_eq!(result.err().map(|error| error.kind), error);
        assert_eq!(script.requests().len(), calls);
    }
}

/// A client that is rate-limited with a wait, and notes when it was called.
struct Limited {
    wait: Duration,
    calls: std::sync::Mutex<Vec<tokio::time::Instant>>,
}

#[async_trait::async_trait]
impl LlmClient for Limited {
    fn model(&self) -> &str {
        "openai::limited"
    }

    async fn complete(
        &self,
        _request: &Request,
    ) -> Result<autocomp_llm::Completion, autocomp_llm::LlmError> {
        self.calls
            .lock()
            .expect("lock")
            .push(tokio::time::Instant::now());
        let mut error = autocomp_llm::LlmError::new(LlmErrorKind::RateLimit, self.model(), "429");
        error.retry_after = Some(self.wait);
        Err(error)
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed_and_the_deadline_too() {
    let wait = Duration::from_secs(30);
    let client = Arc::new(Limited {
        wait,
        calls: std::sync::Mutex::default(),
    });
    let start = tokio::time::Instant::now();
    let retried = Retried::new(Arc::clone(&client), policy(10, Duration::from_secs(100)));
    let error = retried.complete(&request()).await.expect_err("limited");
    assert_eq!(error.kind, LlmErrorKind::RateLimit);
    let calls = client.calls.lock().expect("lock").clone();
    // At 0, 30, 60 and 90 s; the next would be after the deadline of 100 s.
    assert_eq!(calls.len(), 4);
    assert!(calls.windows(2).all(|pair| wait <= pair[1] - pair[0]));
    assert!(start.elapsed() <= Duration::from_secs(100));
}

async fn run_command(command: &str, limit: Duration) -> Result<String, (LlmErrorKind, String)> {
    let client = CommandClient::new(&spec(&format!("command::{command}"))).expect(command);
    match Timed::new(client, limit).complete(&request()).await {
        Ok(completion) => Ok(completion.text),
        Err(error) => Err((error.kind, error.message)),
    }
}

#[tokio::test]
async fn programs_answer_fail_hang_and_flood() {
    let long = Duration::from_secs(30);
    assert_eq!(
        run_command("cat", long).await,
        Ok("You write plans.\n\nWrite one.".to_owned())
    );
    assert_eq!(
        run_command("sh -c 'echo early'", long).await,
        Ok("early\n".to_owned())
    );
    let kind = |result: Result<String, (LlmErrorKind, String)>| result.expect_err("fails").0;
    let (failed, message) = run_command("sh -c 'echo no credit >&2; exit 3'", long)
        .await
        .expect_err("fails");
    assert_eq!(failed, LlmErrorKind::ProgramFailed);
    assert!(
        message.contains("no credit") && message.contains('3'),
        "{message}"
    );
    assert_eq!(kind(run_command("true", long).await), LlmErrorKind::Empty);
    assert_eq!(
        kind(run_command("no-such-program-here", long).await),
        LlmErrorKind::Unavailable
    );
    assert_eq!(
        kind(run_command("sh -c 'yes | head -c 6000000'", long).await),
        LlmErrorKind::Oversized
    );
    assert_eq!(
        kind(run_command("sh -c 'exit 75'", long).await),
        LlmErrorKind::Overload
    );
    let hanging = run_command("sh -c 'sleep 600 & sleep 600'", Duration::from_millis(300)).await;
    assert_eq!(kind(hanging), LlmErrorKind::Timeout);
    // A program left behind does not hold up the reply.
    let left = run_command("sh -c 'sleep 600 & echo fine'", long).await;
    assert_eq!(left, Ok("fine\n".to_owned()));
    // Megabytes on standard error do not block it.
    let talkative = run_command("sh -c 'yes | head -c 3000000 >&2; echo fine'", long).await;
    assert_eq!(talkative, Ok("fine\n".to_owned()));
}

#[tokio::test]
async fn programs_see_no_environment_but_what_is_named() {
    // CARGO_MANIFEST_DIR stands for a key: it is set in this process and not on the list.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let long = Duration::from_secs(30);
    let seen = run_command("env", long).await.expect("runs");
    assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    let seen = run_command("env:CARGO_MANIFEST_DIR env", long)
        .await
        .expect("runs");
    assert!(seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    let refused = CommandClient::new(&spec("command::env:OPENAI_API_KEY env"));
    assert_eq!(
        refused.err().map(|error| error.kind),
        Some(LlmErrorKind::InvalidRequest)
    );
}

fn files(folder: &Path, end: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(end))
        .collect();
    names.sort();
    names
}

async fn wait_for(folder: &Path, end: &str, count: usize) -> Vec<String> {
    loop {
        let names = files(folder, end);
        if names.len() == count {
            return names;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_mailbox_is_answered_in_any_order_and_survives_a_restart() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().to_path_buf();
    let spec = spec(&format!("mailbox::{}", path.display()));
    let ask = |client: &Arc<MailboxClient>, question: &str| {
        let (client, request) = (Arc::clone(client), Request::new("", question, 100));
        tokio::spawn(async move { client.complete(&request).await })
    };
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    let first = ask(&client, "first");
    wait_for(&path, ".request.md", 1).await;
    let second = ask(&client, "second");
    let third = ask(&client, "third");
    let names = wait_for(&path, ".request.md", 3).await;
    // Two are answered, the later ones first; then everything is killed.
    let answer = |question: &str, text: &str| {
        let name = names
            .iter()
            .find(|name| std::fs::read_to_string(path.join(name)).expect("request") == question)
            .expect("asked");
        let answer = path.join(name.replace(".request.", ".answer."));
        std::fs::write(answer.with_extension("part"), text).expect("write");
        std::fs::rename(answer.with_extension("part"), answer).expect("rename");
    };
    answer("third", "three");
    assert_eq!(
        third.await.expect("joined").expect("answered").text,
        "three"
    );
    first.abort();
    second.abort();
    assert!(first.await.is_err() && second.await.is_err());
    drop(client);
    answer("second", "two");
    answer("first", "ERROR: no idea");
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    assert_eq!(
        ask(&client, "second")
            .await
            .expect("joined")
            .expect("answered")
            .text,
        "two"
    );
    let refused = ask(&client, "first")
        .await
        .expect("joined")
        .expect_err("refused");
    assert_eq!(refused.kind, LlmErrorKind::Refused);
    assert!(refused.message.contains("no idea"));
}

#[tokio::test]
async fn equal_questions_get_answers_of_their_own() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().to_path_buf();
    let spec = spec(&format!("mailbox::{}", path.display()));
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    let calls: Vec<_> = (0..2)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.complete(&Request::new("", "same", 100)).await })
        })
        .collect();
    let names = wait_for(&path, ".request.md", 2).await;
    for (idx, name) in names.iter().enumerate() {
        let answer = path.join(name.replace(".request.", ".answer."));
        std::fs::write(answer, format!("answer {idx}")).expect("write");
    }
    let mut texts = Vec::new();
    for call in calls {
        texts.push(call.await.expect("joined").expect("answered").text);
    }
    texts.sort();
    assert_eq!(texts, ["answer 0", "answer 1"]);
    assert_eq!(files(&path, ".done.md").len(), 2);
}

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
    let checks = check_models(&connector, &names).await;
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

//! Starting and stopping runs: by whom, and what.

use super::{Server, synthetic};
use autocomp_dashboard::CONTROL_HEADER;
use axum::http::{Request, StatusCode, header};
use serde_json::Value;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

const START: &str = r#"{"action":"start","problem":"toy/sum-64","seed":3,"max_evaluations":9}"#;

struct Controlled {
    server: Server,
    folder: std::path::PathBuf,
}

impl Controlled {
    fn new(control: Option<&str>) -> Self {
        let place = TempDir::new().unwrap();
        let folder = place.path().to_owned();
        let shape = synthetic::Shape {
            evaluations: 12,
            text: "words".to_owned(),
            seed: 2,
        };
        synthetic::write_run(&folder.join("done"), &shape);
        let server = Server::with(place, "127.0.0.1:7474", Some("visitor"), control);
        Self { server, folder }
    }

    /// Asks as the dashboard's own page does, but for the headers given.
    async fn act(&self, body: &str, other: &[(&str, &str)]) -> (StatusCode, String) {
        let mut request = Request::post("/api/control");
        for (name, value) in [
            ("host", "127.0.0.1:7474"),
            ("origin", "http://127.0.0.1:7474"),
            ("cookie", "autocomp-token-7474=visitor"),
            ("content-type", "application/json"),
            (CONTROL_HEADER, "keeper"),
        ] {
            let value = other
                .iter()
                .find(|it| it.0 == name)
                .map_or(value, |it| it.1);
            if !value.is_empty() {
                request = request.header(name, value);
            }
        }
        for (name, value) in other.iter().filter(|it| it.0.starts_with("sec-")) {
            request = request.header(*name, *value);
        }
        let answer = self.server.send(request, body).await;
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await;
        (status, String::from_utf8_lossy(&body.unwrap()).into_owned())
    }

    /// What the program was called with; waits until it was, if it is to be.
    async fn calls(&self, n_calls: usize) -> Vec<String> {
        loop {
            let text = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
            let calls: Vec<String> = text.lines().map(str::to_owned).collect();
            if n_calls <= calls.len() {
                return calls;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn only_its_own_pages_with_both_tokens_start_anything() {
    let it = Controlled::new(Some("keeper"));
    for (why, other) in [
        ("no token in the header", vec![(CONTROL_HEADER, "")]),
        ("a wrong one", vec![(CONTROL_HEADER, "keepes")]),
        ("the visitor's", vec![(CONTROL_HEADER, "visitor")]),
        ("no origin", vec![("origin", "")]),
        ("another site", vec![("origin", "http://evil.example")]),
        ("another port", vec![("origin", "http://127.0.0.1:80")]),
        ("another scheme", vec![("origin", "https://127.0.0.1:7474")]),
        ("the null origin", vec![("origin", "null")]),
        (
            "another name",
            vec![
                ("host", "evil.example:7474"),
                ("origin", "http://evil.example:7474"),
            ],
        ),
        (
            "another site's page",
            vec![("sec-fetch-site", "cross-site")],
        ),
        (
            "a page of another port",
            vec![("sec-fetch-site", "same-site")],
        ),
        (
            "a form of another site",
            vec![
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
            ],
        ),
    ] {
        let (status, _) = it.act(START, &other).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{why}");
    }
    let (status, _) = it.act(START, &[("cookie", "a=b")]).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let (status, _) = it.act(START, &[("content-type", "text/plain")]).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let (status, _) = it.act(&format!("{START}{}", " ".repeat(9000)), &[]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(!it.folder.join("calls").exists());

    let (status, answer) = it.act(START, &[("sec-fetch-site", "same-origin")]).await;
    assert_eq!(
        (status, answer.as_str()),
        (StatusCode::ACCEPTED, r#"{"run":"sum-64-s3"}"#)
    );
    let place = it.folder.join("sum-64-s3");
    assert_eq!(
        it.calls(1).await,
        [format!(
            "optimize|--seed=3|--max-evaluations=9|--run-dir={}|--|toy/sum-64|",
            place.display()
        )]
    );
}

#[tokio::test]
async fn without_leave_nothing_is_started() {
    let it = Controlled::new(None);
    let (status, message) = it.act(START, &[]).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(message.contains("--allow-control"));
}

#[tokio::test]
async fn wishes_are_checked_and_failures_are_told() {
    let it = Controlled::new(Some("keeper"));
    for bad in [
        r#"{"action":"start","problem":"--config=/etc/passwd"}"#,
        r#"{"action":"start","problem":"../../problem"}"#,
        r#"{"action":"start","problem":"/abs/problem"}"#,
        r#"{"action":"start","problem":"a/b","name":"../out"}"#,
        r#"{"action":"start","problem":"a/b","name":"done"}"#,
        r#"{"action":"start","problem":"a/b","model":"command::./evil","max_usd":1}"#,
        r#"{"action":"start","problem":"a/b","model":"openai::gpt-5"}"#,
        r#"{"action":"start","problem":"a/b","model":"openai::gpt-5","max_usd":-1}"#,
        r#"{"action":"fork","run":"done","kernel":"--flag"}"#,
        r#"{"action":"fork","run":"done","name":".hidden"}"#,
    ] {
        let (status, message) = it.act(bad, &[]).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{bad}: {message}");
    }
    for unknown in [
        r#"{"action":"start","problem":"a/b","toolchain":"/evil"}"#,
        r#"{"action":"remove","run":"done"}"#,
    ] {
        let (status, _) = it.act(unknown, &[]).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{unknown}");
    }
    let (status, _) = it.act(r#"{"action":"stop","run":"../done"}"#, &[]).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, message) = it.act(r#"{"action":"stop","run":"done"}"#, &[]).await;
    assert_eq!(status, StatusCode::CONFLICT, "{message}");
    assert!(!it.folder.join("calls").exists());

    let fork = r#"{"action":"fork","run":"done","kernel":"c3","max_evaluations":40}"#;
    let (status, answer) = it.act(fork, &[]).await;
    assert_eq!(
        (status, answer.as_str()),
        (StatusCode::ACCEPTED, r#"{"run":"done-fork"}"#)
    );
    let extend = r#"{"action":"extend","run":"done","max_evaluations":40}"#;
    assert_eq!(it.act(extend, &[]).await.0, StatusCode::ACCEPTED);
    let done = it.folder.join("done");
    let mut calls = it.calls(2).await;
    calls.sort();
    assert_eq!(
        calls,
        [
            format!(
                "optimize|--from={}:c3|--run-dir={}-fork|--max-evaluations=40|",
                done.display(),
                done.display()
            ),
            format!("optimize|--resume={}|--max-evaluations=40|", done.display()),
        ]
    );
    // The stand-in fails: what it says is shown.
    loop {
        let request = Request::get("/api/control?token=visitor");
        let answer = it
            .server
            .ask(request.header(header::HOST, "127.0.0.1:7474"))
            .await;
        let body = axum::body::to_bytes(answer.into_body(), usize::MAX)
            .await
            .unwrap();
        let state: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(state["token"], "keeper");
        let ended = &state["started"][0]["ended"];
        if !ended.is_null() {
            assert_eq!(ended["code"], 3);
            assert_eq!(ended["message"], "error: nothing to see");
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_run_that_a_process_is_at_work_on_is_not_taken_up_again() {
    let it = Controlled::new(Some("keeper"));
    // This process holds the run.
    let _writer = autocomp_store::RunWriter::open(&it.folder.join("done")).unwrap();
    let (status, _) = it.act(r#"{"action":"extend","run":"done"}"#, &[]).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(
        autocomp_store::live_process(&it.folder.join("done")),
        Some(std::process::id())
    );
}

//! The dashboard's answers, without a browser.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod control;
#[path = "../../../reports/tests/suite/synthetic.rs"]
mod synthetic;
mod trace;
mod wishes;

use autocomp_dashboard::{DashboardSettings, POLICY, dashboard};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tower::ServiceExt;

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

struct Server {
    _place: TempDir,
    router: Router,
}

impl Server {
    /// Serves a folder with one run of 120 kernels, two folders down.
    fn new(address: &str, token: Option<&str>) -> Self {
        let place = TempDir::new().unwrap();
        let folder = place.path().join("deep/down/run");
        let shape = synthetic::Shape {
            evaluations: 120,
            text: HOSTILE.to_owned(),
            seed: 3,
        };
        synthetic::write_run(&folder, &shape);
        Self::of(place, address, token)
    }

    fn of(place: TempDir, address: &str, token: Option<&str>) -> Self {
        Self::with(place, address, token, None)
    }

    fn with(place: TempDir, address: &str, token: Option<&str>, control: Option<&str>) -> Self {
        let router = dashboard(DashboardSettings {
            folder: place.path().to_owned(),
            address: address.parse::<SocketAddr>().unwrap(),
            token: token.map(str::to_owned),
            program: stand_in(place.path()),
            control: control.map(str::to_owned),
            has_timeline: |_| true,
        });
        Self {
            _place: place,
            router,
        }
    }

    async fn ask(&self, request: axum::http::request::Builder) -> Response<Body> {
        self.send(request, "").await
    }

    async fn send(&self, request: axum::http::request::Builder, body: &str) -> Response<Body> {
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> Response<Body> {
        let request = Request::get(path).header(header::HOST, "127.0.0.1:7474");
        self.ask(request).await
    }

    /// Waits until the runs of the folder were read.
    async fn runs(&self) -> Value {
        loop {
            let runs = self.json("/api/runs").await;
            let rows = runs["runs"].as_array().unwrap();
            if !rows.is_empty() && rows.iter().all(|row| row["unread"].is_null()) {
                return runs;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json");
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }
}

#[tokio::test]
async fn every_answer_has_the_policy_and_only_reading_is_allowed() {
    let server = Server::new("127.0.0.1:7474", None);
    for path in [
        "/",
        "/app.js",
        "/app.css",
        "/api/runs",
        "/nowhere",
        "/api/run?run=no",
    ] {
        let answer = server.get(path).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-security-policy"), POLICY, "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        assert_eq!(header("cache-control"), "no-store");
    }
    assert!(!POLICY.contains("unsafe"));
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let request = Request::builder().method(method).uri("/api/runs");
        let answer = server
            .ask(request.header(header::HOST, "127.0.0.1:7474"))
            .await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    let request = Request::builder().method("HEAD").uri("/api/runs");
    let answer = server
        .ask(request.header(header::HOST, "127.0.0.1:7474"))
        .await;
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test]
async fn names_that_are_not_its_own_are_refused() {
    let server = Server::new("127.0.0.1:7474", None);
    let status = async |host: Option<&str>| {
        let mut request = Request::get("/api/runs");
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        server.ask(request).await.status()
    };
    for host in ["127.0.0.1:7474", "localhost:7474", "LOCALHOST:7474"] {
        assert_eq!(status(Some(host)).await, StatusCode::OK, "{host}");
    }
    for host in [
        "evil.example:7474",
        "evil.example",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1.evil.example:7474",
        "localhost.evil.example:7474",
        "192.168.0.1:7474",
        "",
    ] {
        assert_eq!(status(Some(host)).await, StatusCode::FORBIDDEN, "{host}");
    }
    assert_eq!(status(None).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_token_is_needed_where_others_can_reach_it() {
    let server = Server::new("10.1.2.3:7474", Some("secret-words"));
    let ask = async |path: &str, cookie: &str| {
        let request = Request::get(path)
            .header(header::HOST, "10.1.2.3:7474")
            .header(header::COOKIE, cookie);
        server.ask(request).await
    };
    for (path, cookie) in [
        ("/", "a=b"),
        ("/api/runs", "autocomp-token-7474=wrong"),
        ("/api/runs?token=secret-word", "a=b"),
        ("/api/runs?token=", "autocomp-token-7474="),
    ] {
        let answer = ask(path, cookie).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path} {cookie}");
    }
    let answer = ask("/?token=secret-words", "a=b").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let answer = ask("/api/runs", "x=y; autocomp-token-7474=secret-words").await;
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test]
async fn runs_kernels_trees_and_differences() {
    let server = Server::new("127.0.0.1:7474", None);
    let runs = server.runs().await;
    let row = &runs["runs"][0];
    assert_eq!(row["run"], "deep/down/run");
    assert_eq!(row["evaluations"], 120);
    let run = server.json("/api/run?run=deep/down/run").await;
    assert_eq!(run["kernels"], 120);
    let best = run["chain"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(best["cost"], row["best"]["value"]);

    let page = server
        .json("/api/kernels?run=deep/down/run&sort=cost&from=10&count=7")
        .await;
    assert_eq!(
        (
            page["total"].as_u64(),
            page["rows"].as_array().unwrap().len()
        ),
        (Some(120), 7)
    );
    let costs: Vec<u64> = page["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["cost"].as_u64().unwrap())
        .collect();
    assert!(costs.is_sorted());
    let wrong = server
        .json("/api/kernels?run=deep/down/run&outcome=wrong")
        .await;
    let rows = wrong["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["outcome"] == "wrong"));

    let tree = server.json("/api/tree?run=deep/down/run").await;
    let n = tree["name"].as_array().unwrap().len();
    assert_eq!(tree["total"].as_u64(), Some(n as u64));
    for (place, parent) in tree["parent"].as_array().unwrap().iter().enumerate() {
        assert!(
            parent
                .as_u64()
                .is_none_or(|parent| (parent as usize) < place)
        );
    }

    let name = best["name"].as_str().unwrap();
    let kernel = server
        .json(&format!("/api/kernel?run=deep/down/run&kernel={name}"))
        .await;
    assert!(kernel["plan"].as_str().unwrap().contains("<script>"));
    let diff = server
        .json(&format!("/api/diff?run=deep/down/run&from=c0&to={name}"))
        .await;
    assert!(
        diff["lines"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line["kind"] == "added")
    );
}

#[tokio::test]
async fn only_runs_that_were_found_are_opened() {
    let server = Server::new("127.0.0.1:7474", None);
    for path in [
        "/api/run?run=../deep/down/run",
        "/api/run?run=/etc",
        "/api/run?run=deep",
        "/api/kernel?run=deep/down/run&kernel=c999",
        "/../Cargo.toml",
        "/%2e%2e/Cargo.toml",
    ] {
        assert_eq!(
            server.get(path).await.status(),
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    assert_eq!(
        server.get("/api/run").await.status(),
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn news_are_told() {
    use futures::StreamExt as _;
    let place = TempDir::new().unwrap();
    let folder = place.path().to_owned();
    let server = Server::of(place, "127.0.0.1:7474", None);
    let answer = server.get("/api/events").await;
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut events = answer.into_body().into_data_stream();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(&first[..], b"data: [[],null]\n\n");
    make_run(&folder.join("new"));
    let mut text = String::new();
    // First that it is there, then what it is doing.
    while !text.contains("[\"new\",5,") {
        let next = events.next().await.unwrap().unwrap();
        text = String::from_utf8_lossy(&next).into_owned();
        assert!(text.contains("\"new\""), "{text}");
    }
}

fn make_run(folder: &Path) {
    let shape = synthetic::Shape {
        evaluations: 5,
        text: "words".to_owned(),
        seed: 1,
    };
    // Under another name until it is whole, as copies of runs are made.
    let hidden = folder.with_file_name(".making");
    synthetic::write_run(&hidden, &shape);
    std::fs::rename(hidden, folder).unwrap();
}

/// A program that notes what it was called with in `calls` and ends as `fail` says.
fn stand_in(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let program = folder.join("program");
    let calls = folder.join("calls");
    let script = format!(
        "#!/bin/sh\nsaid=$(printf '%s|' \"$@\")\nprintf '%s\\n' \"$said\" >> '{0}'\n\
         echo 'error: nothing to see' >&2\nexit 3\n",
        calls.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

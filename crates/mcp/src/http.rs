//! The protocol over HTTP, on this machine alone and with a token.

use crate::server::Server;
use crate::{McpSettings, Shared};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Longest request, in bytes: a kernel, as JSON.
const LONGEST_REQUEST: usize = 8 << 20;

/// Serves clients at `/mcp` that show `token`, until `end`. Searches that go on then are
/// stopped, resumable.
///
/// # Errors
/// The listener fails.
pub async fn serve_http(
    listener: TcpListener,
    token: String,
    settings: McpSettings,
    end: CancellationToken,
) -> io::Result<()> {
    let shared = Shared::new(settings);
    let of_client = shared.clone();
    // Names other than those of this machine are refused, so that no page of another site
    // reaches the server through a name that it points here; so is every page of a browser.
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(LONGEST_REQUEST)
        .enforce_origin_validation()
        .with_cancellation_token(end.child_token());
    let service = StreamableHttpService::new(
        move || Ok(Server::new(of_client.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let wanted: Arc<str> = token.into();
    let router = Router::new()
        .nest_service("/mcp", service)
        .fallback(elsewhere)
        .layer(middleware::from_fn_with_state(wanted, guard));
    let ended = end.clone().cancelled_owned();
    let served = axum::serve(listener, router).with_graceful_shutdown(ended);
    tokio::select! {
        served = served => served?,
        () = end.cancelled() => {}
    }
    shared.searches.stop_all().await;
    Ok(())
}

async fn guard(State(wanted): State<Arc<str>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given.and_then(|it| it.to_str().ok()?.split_once(' '));
    // The name of the scheme is not a matter of capitals (RFC 9110, 11.1).
    let is_right = given.is_some_and(|(scheme, token)| {
        scheme.eq_ignore_ascii_case("bearer") && is_equal(token.trim_start(), &wanted)
    });
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let is_json = kind
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("application/json");
    match is_right {
        true => told(next.run(request).await, is_json),
        false => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            "send the token that `autocomp mcp` printed: Authorization: Bearer TOKEN\n",
        )
            .into_response(),
    }
}

/// Answers requests for other paths than that of the protocol.
async fn elsewhere() -> (StatusCode, &'static str) {
    (
        StatusCode::NOT_FOUND,
        "there is nothing here: the protocol is served at /mcp\n",
    )
}

/// Says with a refused method which ones there are, and of a message that is no JSON, though it is
/// said to be, that it is broken: the library says that its kind is the wrong one.
fn told(mut response: Response, is_json: bool) -> Response {
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    let (parts, _) = response.into_parts();
    let text = "the protocol takes POST for messages, GET for the stream of a session, DELETE for its end\n";
    let mut told = (parts.status, text).into_response();
    if let Some(methods) = parts.headers.get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, methods.clone());
    }
    told
}

/// Compares in a time that does not tell how much is right.
fn is_equal(given: &str, wanted: &str) -> bool {
    let pairs = given.bytes().zip(wanted.bytes());
    given.len() == wanted.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

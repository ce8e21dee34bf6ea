//! Who may ask, and what every answer carries.

use crate::Shared;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What a page may load and run: what this server has, and nothing inline.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The header that carries the token of requests that change anything.
pub const CONTROL_HEADER: &str = "x-autocomp-control";

/// Returns the name of the cookie that carries the token. Cookies are not kept apart by
/// ports, and there may be several dashboards.
fn cookie_name(shared: &Shared) -> String {
    format!("autocomp-token-{}", shared.settings.address.port())
}

/// Lets a request through, or refuses it; adds the headers of every answer.
pub async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let refused = refusal(&shared, &request);
    let first_token = token_in_query(&request).map(str::to_owned);
    let mut response = match refused {
        Some((status, why)) => (status, why).into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    // Whoever came with the token in the address keeps it in a cookie that scripts cannot read.
    if response.status().is_success()
        && let Some(token) = first_token
        && let Ok(cookie) = HeaderValue::from_str(&format!(
            "{}={token}; HttpOnly; SameSite=Strict; Path=/",
            cookie_name(&shared)
        ))
    {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Returns why a request is refused, if it is.
fn refusal(shared: &Shared, request: &Request) -> Option<(StatusCode, &'static str)> {
    let changes = *request.method() == Method::POST;
    if changes && shared.control.is_none() {
        return Some((
            StatusCode::METHOD_NOT_ALLOWED,
            "the dashboard only reads; start it with `--allow-control` to start and stop runs\n",
        ));
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !changes && !reads {
        return Some((StatusCode::METHOD_NOT_ALLOWED, "this is not understood\n"));
    }
    let host = request.headers().get(header::HOST);
    let is_known = host
        .and_then(|host| host.to_str().ok())
        .is_some_and(|host| is_own(shared, host));
    if !is_known {
        return Some((
            StatusCode::FORBIDDEN,
            "this name is not the dashboard's; open it by its address\n",
        ));
    }
    // Browsers say where a request comes from. Other sites may link here, no more.
    let site = text_of(request, "sec-fetch-site");
    let is_visit = text_of(request, "sec-fetch-mode") == Some("navigate");
    if site.is_some_and(|site| site != "same-origin" && site != "none") && (changes || !is_visit) {
        return Some((
            StatusCode::FORBIDDEN,
            "pages of other sites may not ask here\n",
        ));
    }
    if let Some(wanted) = shared.settings.token.as_deref() {
        let cookie = cookie_name(shared);
        let given = token_in_query(request).or_else(|| token_in_cookie(request, &cookie));
        if !given.is_some_and(|given| is_equal(given, wanted)) {
            return Some((
                StatusCode::UNAUTHORIZED,
                "open the address that `autocomp serve` printed, with its token\n",
            ));
        }
    }
    match (changes, &shared.control) {
        (true, Some(control)) if !is_own_change(request, &control.token) => Some((
            StatusCode::FORBIDDEN,
            "runs are started and stopped from the dashboard's own pages only\n",
        )),
        _ => None,
    }
}

/// Returns whether a request that changes anything comes from a page of this server: another
/// site can neither name this origin nor read the token.
fn is_own_change(request: &Request, wanted: &str) -> bool {
    let host = text_of(request, "host").unwrap_or_default();
    let is_own_page = text_of(request, "origin") == Some(&format!("http://{host}"));
    let token = text_of(request, CONTROL_HEADER);
    is_own_page && token.is_some_and(|given| is_equal(given, wanted))
}

fn text_of<'a>(request: &'a Request, header: &str) -> Option<&'a str> {
    request.headers().get(header)?.to_str().ok()
}

/// Returns whether a `Host` header names this server.
fn is_own(shared: &Shared, host: &str) -> bool {
    let address = shared.settings.address;
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.parse() == Ok(address.port()) => name,
        Some((_, port)) if port.bytes().all(|it| it.is_ascii_digit()) => return false,
        _ if address.port() == 80 => host,
        _ => return false,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    if bare.eq_ignore_ascii_case("localhost") {
        return address.ip().is_loopback();
    }
    match bare.parse::<std::net::IpAddr>() {
        Ok(ip) => ip == address.ip() || (address.ip().is_unspecified() && !ip.is_unspecified()),
        Err(_) => false,
    }
}

fn token_in_query(request: &Request) -> Option<&str> {
    let query = request.uri().query()?;
    query.split('&').find_map(|it| it.strip_prefix("token="))
}

fn token_in_cookie<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let cookies = request.headers().get_all(header::COOKIE);
    let pairs = cookies.iter().filter_map(|it| it.to_str().ok());
    pairs
        .flat_map(|it| it.split("; "))
        .find_map(|it| it.strip_prefix(name)?.strip_prefix('='))
}

/// Compares in a time that does not tell how much is right.
fn is_equal(given: &str, wanted: &str) -> bool {
    let pairs = given.bytes().zip(wanted.bytes());
    given.len() == wanted.len() && pairs.fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

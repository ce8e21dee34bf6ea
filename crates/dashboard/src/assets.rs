//! The front end, built beforehand and built in.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Answers with a file of the front end.
pub async fn asset(uri: Uri) -> Response {
    let (kind, content): (_, &[u8]) = match uri.path().trim_start_matches('/') {
        "" | "index.html" => (
            "text/html; charset=utf-8",
            include_bytes!("../assets/index.html"),
        ),
        "app.css" => (
            "text/css; charset=utf-8",
            include_bytes!("../assets/app.css"),
        ),
        "app.js" => (
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/app.js"),
        ),
        "diff.js" => (
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/diff.js"),
        ),
        _ => return (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    };
    ([(header::CONTENT_TYPE, kind)], content).into_response()
}

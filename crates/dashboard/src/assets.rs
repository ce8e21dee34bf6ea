//! The front end, built beforehand and built in.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

/// The files of the front end by name.
static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/assets.zst"));
    autocomp_packed_files::unpack(packed).expect("what the build script packed is whole")
});

/// Answers with a file of the front end.
pub async fn asset(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let kind = match path.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => "text/javascript; charset=utf-8",
    };
    match FILES.iter().find(|(name, _)| name == path) {
        Some((_, content)) => ([(header::CONTENT_TYPE, kind)], &content[..]).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}

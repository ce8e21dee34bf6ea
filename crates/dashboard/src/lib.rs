//! Runs in the browser: a page that shows all runs below a folder, live.
//!
//! The server only reads. It answers requests that name its own address alone, so that no
//! page of another site can reach it through a name that it points here (DNS rebinding);
//! where it is reachable from other machines, requests need a token. Pages may load and
//! run nothing but what is built in here ([`POLICY`]), and the front end makes elements
//! and texts, never markup, of what others wrote.

mod answers;
mod assets;
mod guard;
mod runs;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use runs::Runs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub use guard::POLICY;

/// What the server shows, and to whom.
#[derive(Clone, Debug)]
pub struct DashboardSettings {
    /// The folder that holds run folders, or is one.
    pub folder: PathBuf,
    /// The address that it listens at.
    pub address: SocketAddr,
    /// What requests must carry, if anything.
    pub token: Option<String>,
}

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    runs: Arc<Runs>,
    settings: Arc<DashboardSettings>,
}

/// Returns the routes of the dashboard.
pub fn dashboard(settings: DashboardSettings) -> Router {
    let shared = Shared {
        runs: Arc::new(Runs::new(settings.folder.clone())),
        settings: Arc::new(settings),
    };
    Router::new()
        .route("/api/runs", get(answers::list))
        .route("/api/run", get(answers::run))
        .route("/api/tree", get(answers::tree))
        .route("/api/kernels", get(answers::kernels))
        .route("/api/kernel", get(answers::kernel))
        .route("/api/diff", get(answers::diff))
        .route("/api/events", get(answers::events))
        .fallback(get(assets::asset))
        .layer(middleware::from_fn_with_state(shared.clone(), guard::guard))
        .with_state(shared)
}

/// Answers requests until the listener fails.
///
/// # Errors
/// The listener fails.
pub async fn serve_dashboard(
    listener: tokio::net::TcpListener,
    settings: DashboardSettings,
) -> std::io::Result<()> {
    axum::serve(listener, dashboard(settings)).await
}

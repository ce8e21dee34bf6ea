//! Runs in the browser: a page that shows all runs below a folder, live.
//!
//! The server only reads, unless it is told to let runs be started and stopped. It answers
//! requests that name its own address alone, so that no page of another site can reach it
//! through a name that it points here (DNS rebinding); where it is reachable from other
//! machines, or changes anything, requests need a token. Pages may load and run nothing but
//! what is built in here ([`POLICY`]), and the front end makes elements and texts, never
//! markup, of what others wrote.

mod answers;
mod assets;
mod control;
mod guard;
mod runs;

use answers::Profiles;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;
use control::Control;
use runs::Runs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub use guard::{CONTROL_HEADER, POLICY};

/// What the server shows, and to whom.
#[derive(Clone, Debug)]
pub struct DashboardSettings {
    /// The folder that holds run folders, or is one.
    pub folder: PathBuf,
    /// The address that it listens at.
    pub address: SocketAddr,
    /// What requests must carry, if anything.
    pub token: Option<String>,
    /// The program itself, which profiles kernels and makes runs.
    pub program: PathBuf,
    /// Whether kernels of the target of that name have a timeline, asked when a kernel is
    /// looked at.
    pub has_timeline: fn(&str) -> bool,
    /// What requests that start or stop runs must carry beside; nobody may if there is none.
    pub control: Option<String>,
}

/// Longest request, in bytes.
const LONGEST_REQUEST: usize = 8 << 10;

/// What all requests share.
#[derive(Clone)]
pub(crate) struct Shared {
    runs: Arc<Runs>,
    profiles: Arc<Profiles>,
    control: Option<Arc<Control>>,
    settings: Arc<DashboardSettings>,
}

/// Returns the routes of the dashboard.
pub fn dashboard(settings: DashboardSettings) -> Router {
    let shared = Shared {
        runs: Runs::new(settings.folder.clone()),
        profiles: Arc::default(),
        control: settings
            .control
            .clone()
            .map(|it| Arc::new(Control::new(it))),
        settings: Arc::new(settings),
    };
    Router::new()
        .route("/api/runs", get(answers::list))
        .route("/api/run", get(answers::run))
        .route("/api/tree", get(answers::tree))
        .route("/api/kernels", get(answers::kernels))
        .route("/api/kernel", get(answers::kernel))
        .route("/api/diff", get(answers::diff))
        .route("/api/profile", get(answers::profile))
        .route("/api/timeline", get(answers::timeline))
        .route("/api/events", get(answers::events))
        .route("/api/problems", get(control::problems))
        .route("/api/control", get(control::state).post(control::act))
        .fallback(get(assets::asset))
        .layer(DefaultBodyLimit::max(LONGEST_REQUEST))
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

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::answers::profile::trace::Timeline;
    pub use crate::control::wish::{provider_model, word};
}

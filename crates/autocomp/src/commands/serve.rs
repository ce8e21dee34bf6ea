//! `autocomp serve`: runs in the browser.

use crate::environment::random_bytes;
use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::registry;
use autocomp_catalog::Catalog;
use autocomp_dashboard::{DashboardSettings, serve_dashboard};
use autocomp_eval::Family;
use clap::Args;
use serde::Serialize;
use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Show all runs below a folder in the browser, live
///
/// The server only reads, and is reachable from this machine alone, unless it is told otherwise;
/// then whoever opens it needs the token that is printed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Port to listen at; 0 for any that is free
    #[arg(long, default_value_t = 7474)]
    port: u16,
    /// Folder that holds run folders, at any depth up to four, or one run folder
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    runs: PathBuf,
    /// Address to listen at
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Let whoever has the token start, stop, extend and fork runs
    #[arg(long)]
    allow_control: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Serving {
    url: String,
    runs: PathBuf,
    control: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    if !arguments.runs.is_dir() {
        return Err(
            CliError::usage(format!("there is no folder {}", arguments.runs.display()))
                .hint("name the folder that holds the run folders with `--runs FOLDER`"),
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    runtime.block_on(serve(arguments, output))?;
    runtime.shutdown_background();
    Ok(exit_code::SUCCESS)
}

async fn serve(arguments: &Arguments, output: Output) -> Result<(), CliError> {
    let wanted = SocketAddr::new(arguments.address, arguments.port);
    let in_use = |error: std::io::Error| {
        CliError::environment(format!("failed to listen at {wanted}: {error}")).hint(
            "another program may use the port; choose one with `--port N`, or any with `--port 0`",
        )
    };
    let listener = tokio::net::TcpListener::bind(wanted)
        .await
        .map_err(in_use)?;
    let address = listener.local_addr().map_err(in_use)?;
    let is_guarded = !address.ip().is_loopback() || arguments.allow_control;
    let token = is_guarded.then(new_token).transpose()?;
    let control = arguments.allow_control.then(new_token).transpose()?;
    let program = env::current_exe().map_err(|error| {
        CliError::environment(format!("the program does not know where it is: {error}"))
    })?;
    let query = token
        .as_ref()
        .map_or_else(String::new, |it| format!("?token={it}"));
    let url = format!("http://{address}/{query}");
    let serving = Serving {
        url: url.clone(),
        runs: arguments.runs.clone(),
        control: arguments.allow_control,
    };
    output.result(&serving, || format!("the dashboard is at {url}"))?;
    output.message("Ctrl-C ends it; the runs go on");
    if arguments.open {
        open_browser(&url, output);
    }
    let served = serve_dashboard(
        listener,
        DashboardSettings {
            folder: arguments.runs.clone(),
            address,
            token,
            program,
            control,
            has_timeline,
        },
    );
    tokio::select! {
        ended = served => ended.map_err(|error| {
            CliError::environment(format!("the dashboard ended: {error}"))
        }),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// Returns whether kernels of a target have a timeline. Of a target that is not built in, asking
/// for one tells.
fn has_timeline(target: &str) -> bool {
    static CATALOG: LazyLock<Option<Catalog>> = LazyLock::new(|| Catalog::built_in().ok());
    let target = CATALOG.as_ref().and_then(|it| it.target(target).ok());
    let family = target.and_then(|it| registry::family(&it).ok());
    family.is_none_or(Family::has_timelines)
}

/// Returns 128 bits that nobody can guess.
fn new_token() -> Result<String, CliError> {
    let bits = random_bytes::<16>()
        .map_err(|error| CliError::environment(format!("no token could be made: {error}")))?;
    Ok(bits.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn open_browser(url: &str, output: Output) {
    let opened = Command::new("xdg-open")
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if opened.is_err() {
        output.message(format!("no browser could be opened; open {url}"));
    }
}

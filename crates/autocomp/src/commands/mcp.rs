//! `autocomp mcp`: the commands as tools for agents.

use super::optimize::{any, signals};
use crate::environment::{all_variables, random_bytes, variables_of_evaluators};
use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::registry;
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::write_bytes;
use autocomp_mcp::{McpLimits, McpSettings, serve_http, serve_stdio};
use clap::Args;
use serde::Serialize;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serve the commands as tools to an agent (Model Context Protocol)
///
/// Speaks on standard input and output, or with `--http` on a port of this machine. A client
/// reads and writes below one folder only, starts no programs, and sees no keys; what it may
/// spend is fixed here.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder of kernels, runs and answers, which a client cannot leave; made if it is not there
    #[arg(long, value_name = "FOLDER", default_value = "autocomp-mcp")]
    folder: PathBuf,
    /// Kernels to evaluate at most, those of searches included
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    max_evaluations: u32,
    /// Minutes of one search at most
    #[arg(long, value_name = "MINUTES", default_value_t = 60.0)]
    max_minutes: f64,
    /// Searches at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    max_searches: usize,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    call_seconds: u64,
    /// Model that searches may ask; may be repeated [default: the rewriter alone]
    #[arg(long = "model", value_name = "MODEL", requires = "max_usd")]
    models: Vec<String>,
    /// Dollars that models may cost at most, all searches together
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    /// Serve over HTTP on this machine, to clients that show the token that is printed
    #[arg(long)]
    http: bool,
    /// Port to listen at; 0 for any that is free
    #[arg(long, default_value_t = 7475, requires = "http")]
    port: u16,
    /// Write the skill that teaches an agent the work into this folder, and serve nothing
    #[arg(long, value_name = "FOLDER")]
    write_skill: Option<PathBuf>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The skill: names of its files below its folder, and their texts.
const SKILL: &[(&str, &str)] = &[
    ("SKILL.md", include_str!("../../skill/SKILL.md")),
    (
        "references/kernels.md",
        include_str!("../../skill/references/kernels.md"),
    ),
    (
        "references/tools.md",
        include_str!("../../skill/references/tools.md"),
    ),
];

/// Where the server is; field names are stable.
#[derive(Serialize)]
struct Serving {
    url: String,
    token: String,
    folder: PathBuf,
}

#[derive(Serialize)]
struct Written {
    files: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    if let Some(folder) = &arguments.write_skill {
        return write_skill(folder, output);
    }
    let settings = settings(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    let served = match arguments.http {
        true => runtime.block_on(over_http(arguments.port, settings, output)),
        false => runtime.block_on(async {
            serve_stdio(settings, end_by_signal())
                .await
                .map_err(|error| {
                    CliError::environment(format!("the server ended: {error}"))
                        .hint("start it from a client that speaks the Model Context Protocol")
                })
        }),
    };
    // A read of standard input cannot be given up.
    runtime.shutdown_background();
    served?;
    Ok(exit_code::SUCCESS)
}

fn settings(arguments: &Arguments) -> Result<McpSettings, CliError> {
    if !(arguments.max_minutes.is_finite() && 0.0 < arguments.max_minutes) {
        return Err(CliError::usage("--max-minutes must be more than 0"));
    }
    let usd = arguments.max_usd.unwrap_or(0.0);
    if !(usd.is_finite() && 0.0 <= usd) {
        return Err(CliError::usage("--max-usd must not be below 0"));
    }
    // Data that cannot be read are told of before anybody waits for an answer.
    let workplace = Workplace::open(&arguments.workplace)?;
    let made = fs::create_dir_all(&arguments.folder).and_then(|()| arguments.folder.canonicalize());
    let folder = made.map_err(|error| {
        CliError::environment(format!(
            "the folder {} cannot be made: {error}",
            arguments.folder.display()
        ))
        .hint("name one that can be written with `--folder FOLDER`")
    })?;
    let program = std::env::current_exe().map_err(|error| {
        CliError::environment(format!("the program does not know where it is: {error}"))
    })?;
    let common = arguments.workplace.as_words();
    // A client cannot name problems of a catalog that was not opened yet.
    let _ = CATALOG.set(workplace);
    let environment = variables_of_evaluators().into_iter();
    Ok(McpSettings {
        program,
        folder,
        common,
        environment: environment
            .map(|(name, value)| (name.into(), value))
            .collect(),
        environment_of_models: all_variables(),
        models: arguments.models.clone(),
        extension,
        limits: McpLimits {
            evaluations: arguments.max_evaluations,
            minutes: arguments.max_minutes,
            micros: (usd * 1e6) as u64,
            searches: arguments.max_searches.max(1),
            call: Duration::from_secs(arguments.call_seconds.max(1)),
        },
        skill: SKILL,
    })
}

/// The catalog of the server.
static CATALOG: OnceLock<Workplace> = OnceLock::new();

/// Returns the ending of kernels for a problem of the catalog.
fn extension(problem: &str) -> String {
    let known = CATALOG.get().and_then(|workplace| {
        let problem = workplace.catalog.problem(problem).ok()?;
        let target = workplace.target_of(&problem).ok()?;
        registry::language(&target).ok()
    });
    known.map_or("txt", |it| it.extension()).to_owned()
}

/// Returns what is cancelled by Ctrl-C, a termination signal or the end of the terminal.
fn end_by_signal() -> CancellationToken {
    let end = CancellationToken::new();
    let of_signal = end.clone();
    let mut signals = signals();
    tokio::spawn(async move {
        if !signals.is_empty() {
            any(&mut signals).await;
            of_signal.cancel();
        }
    });
    end
}

async fn over_http(port: u16, settings: McpSettings, output: Output) -> Result<(), CliError> {
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let in_use = |error: std::io::Error| {
        CliError::environment(format!("failed to listen at {wanted}: {error}")).hint(
            "another program may use the port; choose one with `--port N`, or any with `--port 0`",
        )
    };
    let listener = TcpListener::bind(wanted).await.map_err(in_use)?;
    let address = listener.local_addr().map_err(in_use)?;
    let bits = random_bytes::<16>()
        .map_err(|error| CliError::environment(format!("no token could be made: {error}")))?;
    let token: String = bits.iter().map(|byte| format!("{byte:02x}")).collect();
    let serving = Serving {
        url: format!("http://{address}/mcp"),
        token: token.clone(),
        folder: settings.folder.clone(),
    };
    output.result(&serving, || {
        format!(
            "the tools are at {}\nclients send   Authorization: Bearer {token}",
            serving.url
        )
    })?;
    output.message("Ctrl-C ends it, and stops its searches");
    let end = end_by_signal();
    let served = serve_http(listener, token, settings, end).await;
    served.map_err(|error| CliError::environment(format!("the server ended: {error}")))
}

/// Writes the files of the skill, none of which may be there with another text.
fn write_skill(folder: &Path, output: Output) -> Result<u8, CliError> {
    let mut written = Written { files: Vec::new() };
    for (name, text) in SKILL {
        let path = folder.join(name);
        let below = path.parent().unwrap_or(folder);
        fs::create_dir_all(below).map_err(|error| {
            CliError::environment(format!(
                "the folder {} cannot be made: {error}",
                below.display()
            ))
        })?;
        if fs::read_to_string(&path).is_ok_and(|it| it != *text) {
            return Err(
                CliError::usage(format!("{} is there with another text", path.display()))
                    .hint("name another folder, or move the file away"),
            );
        }
        write_bytes(&path, text.as_bytes())?;
        written.files.push(path);
    }
    output.result(&written, || {
        let shown = written.files.iter().map(|it| format!("{}\n", it.display()));
        shown.collect()
    })?;
    Ok(exit_code::SUCCESS)
}

//! `autocomp worker serve`: the queue's server and a worker, on one machine.

use super::place::machine_name;
use super::worked;
use crate::environment::{data_home, search_path};
use crate::error::CliError;
use crate::output::Output;
use crate::queueing::{access, queue_error};
use autocomp_queue::{Access, Laboratory, LocalServer, Server};
use clap::Args;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How a worker reaches the server beside it.
const LOCAL: &str = "127.0.0.1";

/// How often it is looked whether the server is up.
const LOOK: Duration = Duration::from_secs(1);

/// How often it is asked something.
const ASK: Duration = Duration::from_secs(5);

/// A server that gives no answer so often in a row, each in ten seconds, does nothing any more.
const MOST_UNANSWERED: u32 = 3;

/// How long the server may take until it listens.
const STARTING: Duration = Duration::from_secs(20);

/// Start a local `nats-server`, watch it, and work for whoever uses it
///
/// The server is found on PATH. Unless it is to listen to this machine alone, users need keys:
/// these are made the first time, and it is said which files the searching machine needs.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Address to listen at
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Port to listen at
    #[arg(long, default_value_t = 4222, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Configuration of the server, as `autocomp worker init` writes it, in place of one made here
    #[arg(long, value_name = "FILE", conflicts_with_all = ["address", "port"])]
    config: Option<PathBuf>,
    /// Folder of the server's configuration and store [default: in the user's data folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Name by which the worker here reaches the server, where its certificate has no other
    #[arg(long, requires = "config", default_value = LOCAL)]
    host: String,
    #[command(flatten)]
    working: super::WorkingOptions,
}

/// What a server is started with, and how it is reached.
struct Ready {
    configuration: PathBuf,
    /// What the server listens to.
    listen: SocketAddr,
    address: String,
    access: Option<PathBuf>,
    /// What those who search need.
    users: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let ready = ready(arguments)?;
    let path = search_path();
    let mut server = LocalServer::start(path.as_deref(), &ready.configuration, ready.listen)
        .map_err(|error| queue_error(&error))?;
    wait(&ready.address, &mut server)?;
    if let Some(users) = &ready.users {
        output.message(users);
    }
    let stop = CancellationToken::new();
    let access = access(&ready.address, ready.access.as_deref())?;
    let watched = (access.clone(), stop.clone());
    let watching = std::thread::spawn(move || watch(&mut server, &watched.0, &watched.1, output));
    let result = worked(&access, &arguments.working, output);
    stop.cancel();
    let _ = watching.join();
    result
}

/// Keeps the server up until `stop` is cancelled.
fn watch(server: &mut LocalServer, access: &Access, stop: &CancellationToken, output: Output) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let mut asked = Instant::now();
    let mut unanswered = 0;
    while !stop.is_cancelled() {
        let mut kept = server.keep_up();
        if let Ok(true) = kept {
            output.message("the nats-server had ended and was started again");
        }
        if let Ok(runtime) = &runtime
            && ASK < asked.elapsed()
        {
            unanswered = match runtime.block_on(stop.run_until_cancelled(is_answering(access))) {
                Some(false) => unanswered + 1,
                _ => 0,
            };
            asked = Instant::now();
        }
        if unanswered == MOST_UNANSWERED {
            output.message("the nats-server does not answer and is started again");
            kept = server.restart().map(|()| true);
            unanswered = 0;
        }
        if let Err(error) = kept {
            output.message(format!("{error}; {}", error.remedy()));
        }
        std::thread::sleep(LOOK);
    }
}

async fn is_answering(access: &Access) -> bool {
    match Server::connect(access, "autocomp worker serve").await {
        Ok(server) => server.is_answering().await,
        Err(_) => false,
    }
}

fn ready(arguments: &Arguments) -> Result<Ready, CliError> {
    if let Some(configuration) = &arguments.config {
        let text = fs::read_to_string(configuration).map_err(|error| {
            CliError::input(format!(
                "{} cannot be read: {error}",
                configuration.display()
            ))
            .hint("`autocomp worker init` writes one")
        })?;
        let access = worker_access(configuration, arguments.working.name.as_deref());
        if access.is_none() && (text.contains("accounts") || text.contains("authorization")) {
            return Err(CliError::usage(format!(
                "beside {} is no access file of a worker of this name",
                configuration.display()
            ))
            .hint("say which of its workers this one is: `--name NAME`, where NAME.toml is"));
        }
        let scheme = match text.contains("cert_file") {
            true => "tls",
            false => "nats",
        };
        let listen = listened(&text, configuration)?;
        return Ok(Ready {
            listen,
            address: match arguments.host.as_str() {
                LOCAL => format!("{scheme}://{}", local(&listen)),
                host => format!("{scheme}://{host}:{}", listen.port()),
            },
            access,
            configuration: configuration.clone(),
            users: None,
        });
    }
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => data_home()
            .map(|folder| folder.join("autocomp/queue"))
            .ok_or_else(|| {
                CliError::environment("no folder for the server: HOME is not set")
                    .hint("name one with `--folder`")
            })?,
    };
    let listen = SocketAddr::new(arguments.address, arguments.port);
    let configuration = folder.join(Laboratory::CONFIGURATION);
    if arguments.address.is_loopback() {
        let configuration = folder.join("local.conf");
        let text = format!("listen: \"{listen}\"\njetstream {{ store_dir: \"store\" }}\n");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&configuration, text))
            .map_err(|error| {
                CliError::environment(format!("{} cannot be written: {error}", folder.display()))
                    .hint("name another folder with `--folder`")
            })?;
        return Ok(Ready {
            listen,
            address: format!("nats://{listen}"),
            access: None,
            configuration,
            users: None,
        });
    }
    if !configuration.is_file() {
        let laboratory = Laboratory {
            workers: Vec::new(),
            users: vec!["search".to_owned()],
            listen: listen.to_string(),
            tls: None,
            store_bytes: 10 << 30,
        };
        laboratory
            .write(&folder)
            .map_err(|error| queue_error(&error))?;
    }
    let text = fs::read_to_string(&configuration).map_err(CliError::environment)?;
    if !Laboratory::is_current(&text) {
        return Err(CliError::usage(format!(
            "{} is of an earlier version",
            configuration.display()
        ))
        .hint("remove its folder: keys are made anew, and users need their new files"));
    }
    let known = listened(&text, &configuration)?;
    if known != listen {
        return Err(CliError::usage(format!(
            "{} listens to {known}, not to {listen}",
            configuration.display()
        ))
        .hint("leave `--address` and `--port` as they were, or name another folder"));
    }
    let reached = match listen.ip().is_unspecified() {
        true => format!("{}:{}", machine_name(), listen.port()),
        false => listen.to_string(),
    };
    let users = format!(
        "the searching machine needs {0}/search.toml and {0}/search.nk; there: autocomp optimize \
         PROBLEM --queue nats://{reached} --queue-access search.toml",
        folder.display()
    );
    Ok(Ready {
        users: Some(users),
        listen,
        address: format!("nats://{}", local(&listen)),
        access: Some(folder.join("worker.toml")),
        configuration,
    })
}

/// Returns the access file of a worker beside the configuration: the one of its name, or the one
/// that all share.
fn worker_access(configuration: &Path, name: Option<&str>) -> Option<PathBuf> {
    let of = |name: &str| configuration.with_file_name(format!("{name}.toml"));
    let own = name.map(of);
    own.into_iter()
        .chain([of("worker")])
        .find(|it| it.is_file())
}

/// Returns what a configuration listens to.
fn listened(text: &str, path: &Path) -> Result<SocketAddr, CliError> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("listen: \""));
    let address = line.and_then(|it| it.trim_end_matches('"').parse().ok());
    address.ok_or_else(|| {
        CliError::input(format!(
            "{} has no line `listen: \"IP:PORT\"`",
            path.display()
        ))
        .hint("write one, as `autocomp worker init` does")
    })
}

/// Returns how this machine reaches what it listens to.
fn local(address: &SocketAddr) -> SocketAddr {
    match address.ip().is_unspecified() {
        true => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()),
        false => *address,
    }
}

fn wait(address: &str, server: &mut LocalServer) -> Result<(), CliError> {
    let host = address.rsplit('/').next().unwrap_or_default();
    let started = Instant::now();
    while std::net::TcpStream::connect(host).is_err() {
        server.keep_up().map_err(|error| queue_error(&error))?;
        if STARTING < started.elapsed() {
            return Err(CliError::environment(format!("nothing listens at {host}"))
                .hint("see nats-server.log in the folder of its configuration"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

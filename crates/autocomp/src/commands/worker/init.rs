//! `autocomp worker init`: a queue for a laboratory, ready to be started.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::queueing::queue_error;
use autocomp_queue::Laboratory;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Write the configuration of a `nats-server` for one laboratory, and access for its users
///
/// Each user gets a key of the own and may publish jobs in the own name only. Workers share a key,
/// unless they are named: then each has one of its own and may answer in its own name only.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder to write; files in it are not replaced
    #[arg(default_value = "queue")]
    folder: PathBuf,
    /// Who searches; may be repeated
    #[arg(long = "user", value_name = "NAME", default_value = "search")]
    users: Vec<String>,
    /// Workers that get a key of their own, one for each machine; may be repeated [default: all
    /// share the key `worker`]
    #[arg(long = "worker", value_name = "NAME")]
    workers: Vec<String>,
    /// What the server is to listen to
    #[arg(long, value_name = "IP:PORT", default_value = "0.0.0.0:4222")]
    listen: std::net::SocketAddr,
    /// Certificate of the server (PEM), for encrypted connections
    #[arg(long, value_name = "FILE", requires_all = ["key", "authorities"])]
    certificate: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Certificates of the authorities that signed it, for workers and users
    #[arg(long, value_name = "FILE", requires = "certificate")]
    authorities: Option<PathBuf>,
    /// Disk space that jobs and results may take, GiB
    #[arg(long, value_name = "GIB", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    store: u64,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Written {
    configuration: PathBuf,
    access: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let tls = match (
        &arguments.certificate,
        &arguments.key,
        &arguments.authorities,
    ) {
        (Some(certificate), Some(key), Some(authorities)) => {
            Some([certificate, key, authorities].map(absolute))
        }
        _ => None,
    };
    let laboratory = Laboratory {
        workers: arguments.workers.clone(),
        users: arguments.users.clone(),
        listen: arguments.listen.to_string(),
        tls,
        store_bytes: arguments.store << 30,
    };
    let access = laboratory
        .write(&arguments.folder)
        .map_err(|error| queue_error(&error))?;
    let written = Written {
        configuration: arguments.folder.join(Laboratory::CONFIGURATION),
        access,
    };
    let n_workers = arguments.workers.len().max(1);
    let encrypted = arguments.authorities.is_some();
    output.result(&written, || text(&written, n_workers, encrypted))?;
    Ok(exit_code::SUCCESS)
}

fn text(written: &Written, n_workers: usize, encrypted: bool) -> String {
    let mut lines = vec![
        format!(
            "the server's configuration is {}",
            written.configuration.display()
        ),
        "  start it with: autocomp worker serve --config ".to_owned()
            + &written.configuration.display().to_string(),
    ];
    for (at, path) in written.access.iter().enumerate() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let who = match at < n_workers {
            true if name == "worker" => "workers get".to_owned(),
            true => format!("worker {name} gets"),
            false => format!("{name} gets"),
        };
        let key = path.with_extension("nk");
        let authorities = match encrypted {
            true => format!(
                " and {}",
                path.with_file_name(Laboratory::AUTHORITIES).display()
            ),
            false => String::new(),
        };
        lines.push(format!(
            "{who} {} and {}{authorities}",
            path.display(),
            key.display()
        ));
    }
    lines.join("\n")
}

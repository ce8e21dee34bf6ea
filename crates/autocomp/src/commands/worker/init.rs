//! `autocomp worker init`: a queue for a laboratory, ready to be started.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::queueing::queue_error;
use autocomp_queue::Laboratory;
use clap::Args;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Write the configuration of a `nats-server` for one laboratory, and access for its users
///
/// Each user gets a key of the own and may publish jobs in the own name only. Workers share a key,
/// unless they are named: then each has one of its own and may answer in its own name only. Where
/// the folder has a queue already, users and workers are added to it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Folder to write
    #[arg(default_value = "queue")]
    folder: PathBuf,
    /// Who searches; may be repeated [default: search]
    #[arg(long = "user", value_name = "NAME")]
    users: Vec<String>,
    /// Workers that get a key of their own, one for each machine; may be repeated [default: all
    /// share the key `worker`]
    #[arg(long = "worker", value_name = "NAME")]
    workers: Vec<String>,
    /// What the server is to listen to [default: 0.0.0.0:4222]
    #[arg(long, value_name = "IP:PORT")]
    listen: Option<SocketAddr>,
    /// Certificate of the server (PEM), for encrypted connections
    #[arg(long, value_name = "FILE", requires_all = ["key", "authorities"])]
    certificate: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Certificates of the authorities that signed it, for workers and users
    #[arg(long, value_name = "FILE", requires = "certificate")]
    authorities: Option<PathBuf>,
    /// Disk space that jobs and results may take, GiB [default: 10]
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    store: Option<u64>,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Written {
    configuration: PathBuf,
    access: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let folder = &arguments.folder;
    let configuration = folder.join(Laboratory::CONFIGURATION);
    let is_there = configuration.exists();
    let mut laboratory = laboratory(arguments)?;
    let access = match is_there {
        false => {
            if laboratory.users.is_empty() {
                laboratory.users.push("search".to_owned());
            }
            laboratory.write(folder)
        }
        true if arguments.shapes_server() => {
            return Err(CliError::usage(format!(
                "{} is there already, and only users and workers can be added",
                configuration.display()
            ))
            .hint("name another folder, or change what the server does in that file"));
        }
        true if laboratory.users.is_empty() && laboratory.workers.is_empty() => {
            return Err(
                CliError::usage(format!("{} is there already", configuration.display()))
                    .hint("name whom to add with `--user` or `--worker`, or another folder"),
            );
        }
        true => laboratory.add_to(folder),
    };
    let written = Written {
        configuration,
        access: access.map_err(|error| queue_error(&error))?,
    };
    let n_workers = match is_there {
        true => laboratory.workers.len(),
        false => laboratory.workers.len().max(1),
    };
    let own = laboratory.workers.first();
    let mut own = own.map_or_else(String::new, |it| format!(" --name {it}"));
    if laboratory.tls.is_some() {
        own.push_str(" --host HOST, which is a name of the certificate");
    }
    output.result(&written, || text(&written, n_workers, is_there, &own))?;
    Ok(exit_code::SUCCESS)
}

impl Arguments {
    /// Returns whether anything is said of the server itself.
    fn shapes_server(&self) -> bool {
        self.listen.is_some() || self.certificate.is_some() || self.store.is_some()
    }
}

fn laboratory(arguments: &Arguments) -> Result<Laboratory, CliError> {
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
    for path in tls.iter().flatten() {
        if !path.exists() {
            return Err(CliError::usage(format!("{} is not there", path.display()))
                .hint("name files of certificates and keys (PEM)"));
        }
    }
    Ok(Laboratory {
        workers: arguments.workers.clone(),
        users: arguments.users.clone(),
        listen: arguments
            .listen
            .map_or_else(|| "0.0.0.0:4222".to_owned(), |it| it.to_string()),
        tls,
        store_bytes: arguments.store.unwrap_or(10) << 30,
    })
}

fn text(written: &Written, n_workers: usize, is_added: bool, own: &str) -> String {
    let configuration = &written.configuration;
    let number = configuration.with_file_name("nats-server.pid");
    let mut lines = vec![
        format!("the server's configuration is {}", configuration.display()),
        match is_added {
            false => format!(
                "  start it with: autocomp worker serve --config {}{own}",
                configuration.display()
            ),
            true => format!(
                "  a server that runs reads it again on: kill -HUP $(cat {}), twice for a new user",
                number.display()
            ),
        },
    ];
    let authorities = configuration.with_file_name(Laboratory::AUTHORITIES);
    let authorities = match authorities.exists() {
        true => format!(" and {}", authorities.display()),
        false => String::new(),
    };
    for (at, path) in written.access.iter().enumerate() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let who = match at < n_workers {
            true if name == "worker" => "workers get".to_owned(),
            true => format!("worker {name} gets"),
            false => format!("{name} gets"),
        };
        let key = path.with_extension("nk");
        lines.push(format!(
            "{who} {} and {}{authorities}",
            path.display(),
            key.display()
        ));
    }
    lines.join("\n")
}

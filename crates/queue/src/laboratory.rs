//! Everything that a laboratory needs for one queue: the server's configuration, and access for
//! workers and users.

use crate::access::API;
use crate::error::QueueError;
use crate::names::{JOBS, RESULTS, TEXTS, TRIES, token};
use nkeys::KeyPair;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The user that workers are that have no key of their own.
pub(crate) const WORKER: &str = "worker";

/// A queue with its users, to be written into a folder.
#[derive(Clone, Debug)]
pub struct Laboratory {
    /// Workers with a key of their own: each may answer in its own name only. All others share
    /// the key of `worker`, which is for machines that are trusted alike.
    pub workers: Vec<String>,
    /// Names of those who search.
    pub users: Vec<String>,
    /// What the server listens to, `IP:PORT`.
    pub listen: String,
    /// The server's certificate and its key (PEM), and the authorities that signed it, if
    /// connections are to be encrypted.
    pub tls: Option<[PathBuf; 3]>,
    /// What all streams together may take on the disk, bytes.
    pub store_bytes: u64,
}

impl Laboratory {
    /// The certificates that users and workers believe, beside their access files.
    pub const AUTHORITIES: &str = "authorities.pem";

    /// Returns whether a configuration is one that is written here, and not by an earlier version.
    #[must_use]
    pub fn is_current(configuration: &str) -> bool {
        configuration.contains(END_OF_WORKERS) && configuration.contains(END_OF_ACCOUNTS)
    }

    /// The name of the server's configuration.
    pub const CONFIGURATION: &str = "nats-server.conf";

    /// Writes the configuration and the access files into `folder`, which is made, and returns
    /// the paths of the access files, those of workers first. Of keys, the configuration holds the
    /// public halves only.
    ///
    /// # Errors
    /// [`QueueError::Usage`] if a name cannot be one, [`QueueError::Machine`] if a file is there
    /// already, or cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, QueueError> {
        self.check_names()?;
        let shared = [WORKER.to_owned()];
        let workers = match self.workers.is_empty() {
            true => &shared[..],
            false => &self.workers,
        };
        let authorities = match &self.tls {
            Some([.., authorities]) => {
                let text = fs::read_to_string(authorities);
                Some(text.map_err(|error| QueueError::Machine {
                    what: format!("{} cannot be read: {error}", authorities.display()),
                    remedy: "name a file with certificates (PEM)".to_owned(),
                })?)
            }
            None => None,
        };
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
        if let Some(authorities) = &authorities {
            create(folder, Self::AUTHORITIES, authorities, 0o644)?;
        }
        let (written, entries) = self.let_in(folder, workers, authorities.is_some())?;
        let configuration = self.configuration(&entries);
        create(folder, Self::CONFIGURATION, &configuration, 0o644)?;
        Ok(written)
    }

    /// Adds the users and workers to the queue that was written into `folder`, and returns the
    /// paths of their access files, those of workers first. What else the value says is not looked
    /// at.
    ///
    /// # Errors
    /// [`QueueError::Usage`] if a name cannot be one, [`QueueError::Machine`] if it is there, or the
    /// configuration is none that was written here.
    pub fn add_to(&self, folder: &Path) -> Result<Vec<PathBuf>, QueueError> {
        let path = folder.join(Self::CONFIGURATION);
        self.check_names()?;
        let unusable = |what: &str| QueueError::Machine {
            what: format!("{} {what}", path.display()),
            remedy: "take another name, or write another folder".to_owned(),
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| unusable(&format!("cannot be read: {error}")))?;
        let ends = [END_OF_WORKERS, END_OF_ACCOUNTS].map(|it| text.rfind(it));
        let [Some(end_of_workers), Some(end)] = ends else {
            return Err(unusable(
                "is none that this `autocomp worker init` has written",
            ));
        };
        for name in self.workers.iter().chain(&self.users) {
            if text.contains(&format!("  # {name}\n")) {
                return Err(unusable(&format!("has `{name}` already")));
            }
        }
        let is_encrypted = folder.join(Self::AUTHORITIES).exists();
        let (written, entries) = self.let_in(folder, &self.workers, is_encrypted)?;
        let changed = format!(
            "{}{}{}{}{}",
            &text[..end_of_workers],
            entries.workers,
            &text[end_of_workers..end],
            entries.users,
            &text[end..]
        );
        let beside = path.with_extension("conf.new");
        fs::write(&beside, changed)
            .and_then(|()| fs::rename(&beside, &path))
            .map_err(|error| unwritable(folder, error))?;
        Ok(written)
    }

    /// Sees whether users and workers can be called so.
    fn check_names(&self) -> Result<(), QueueError> {
        let all: Vec<&String> = self.workers.iter().chain(&self.users).collect();
        for (at, name) in all.iter().enumerate() {
            if token(name) != **name || all[..at].contains(name) || *name == WORKER {
                return Err(QueueError::Usage {
                    what: format!("`{name}` cannot be the name of a user or a worker"),
                    remedy: "use letters, digits, `-` and `_`; each name once, and not `worker`"
                        .to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Writes keys and access files for `workers` and the users; returns the paths of the access
    /// files and the entries of the configuration.
    fn let_in(
        &self,
        folder: &Path,
        workers: &[String],
        is_encrypted: bool,
    ) -> Result<(Vec<PathBuf>, Entries), QueueError> {
        let mut entries = Entries::default();
        let mut written = Vec::new();
        let workers = workers.iter().map(|it| (it, true));
        for (name, works) in workers.chain(self.users.iter().map(|it| (it, false))) {
            let key = KeyPair::new_user();
            let seed = key.seed().map_err(|error| QueueError::Machine {
                what: format!("a key cannot be made: {error}"),
                remedy: "try again".to_owned(),
            })?;
            let file = format!("{name}.toml");
            create(folder, &format!("{name}.nk"), &seed, 0o600)?;
            create(folder, &file, &access(name, works, is_encrypted), 0o600)?;
            written.push(folder.join(file));
            let key = key.public_key();
            match works {
                true => entries.workers.push_str(&worker(name, &key)),
                false => entries.users.push_str(&user(name, &key)),
            }
        }
        Ok((written, entries))
    }

    fn configuration(&self, entries: &Entries) -> String {
        let Entries { workers, users } = entries;
        let tls = match &self.tls {
            Some([certificate, key, _]) => format!(
                "\n# Connections are encrypted, keys of users or not.\ntls {{\n  cert_file: {:?}\n  \
                 key_file: {:?}\n}}\n",
                certificate.display().to_string(),
                key.display().to_string()
            ),
            None => {
                "\n# Connections are not encrypted: for a network that nobody else listens to. \
                     With a\n# certificate: `autocomp worker init --certificate FILE --key FILE \
                     --authorities FILE`.\n"
                    .to_owned()
            }
        };
        format!(
            "# A queue of autocomp. Start it in this folder: nats-server -c {}\n\n\
             listen: \"{}\"\n{tls}\n\
             # Jobs and results live here until they are fetched: nothing here is the record of\n\
             # a search.\njetstream {{\n  store_dir: \"store\"\n  max_file_store: {}\n}}\n\n\
             # The streams are in the account of the workers. Each user has an account, which has\n\
             # of that one only what is imported: jobs, demands and texts in the own name, and\n\
             # what workers say. What the server answers stays in the account of who asked. The\n\
             # keys are the public halves; the others are in the files FOLDER/NAME.nk of their\n\
             # owners.\n\
             accounts {{\n  {WORKER} {{\n    jetstream: enabled\n    exports: [\n{}    ]\n    users: \
             [\n{workers}{END_OF_WORKERS}  }}\n{users}{END_OF_ACCOUNTS}",
            Self::CONFIGURATION,
            self.listen,
            self.store_bytes,
            list("      ", &exports())
        )
    }
}

fn unwritable(folder: &Path, error: std::io::Error) -> QueueError {
    QueueError::Machine {
        what: format!("{} cannot be written: {error}", folder.display()),
        remedy: "name a folder that is empty or not there".to_owned(),
    }
}

fn create(folder: &Path, name: &str, text: &str, mode: u32) -> Result<(), QueueError> {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode);
    let written = file
        .open(folder.join(name))
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| QueueError::Machine {
        what: format!("{} cannot be written: {error}", folder.join(name).display()),
        remedy: "take another name, or remove what is left of an earlier one".to_owned(),
    })
}

/// Returns the access file of a user.
fn access(name: &str, works: bool, is_encrypted: bool) -> String {
    let mut text = format!(
        "# For `--queue-access`; the file with the key lies beside this one.\n\
         user = \"{name}\"\nnkey = \"{name}.nk\"\n"
    );
    if !works {
        let _ = writeln!(text, "api = {OWN_API:?}");
    }
    if is_encrypted {
        let authorities = Laboratory::AUTHORITIES;
        let _ = writeln!(text, "authorities = {authorities:?}\ntls = true");
    }
    text
}

/// The line of the configuration behind the last worker.
const END_OF_WORKERS: &str = "    ] # end of workers\n";

/// The line of the configuration behind the last account.
const END_OF_ACCOUNTS: &str = "} # end of accounts\n";

/// Parts of a configuration.
#[derive(Default)]
struct Entries {
    /// What stands in the account of workers.
    workers: String,
    /// Accounts of users.
    users: String,
}

/// What the subjects of JetStream begin with in the account of a user, where servers answer those
/// that begin with [`API`] that the account has no JetStream.
const OWN_API: &str = "autocomp.api";

/// What users hear of the account of workers.
const HEARD: [&str; 3] = [
    "autocomp.hello",
    "autocomp.workers.*",
    "autocomp.results.*.*",
];

/// Returns what a user may publish; `*` stands for all users.
fn asked(user: &str) -> Vec<String> {
    let streams = [JOBS, RESULTS, TRIES, TEXTS];
    let of = |verb: &str, streams: &[&str]| {
        let each = streams.iter().map(|it| format!("{API}.STREAM.{verb}.{it}"));
        each.collect::<Vec<_>>()
    };
    let mut asked = vec![
        "autocomp.hello".to_owned(),
        format!("autocomp.jobs.{user}.*.*"),
        format!("autocomp.demands.{user}.*"),
        format!("autocomp.texts.{user}.*.*"),
    ];
    asked.extend(of("INFO", &streams));
    asked.extend(of("CREATE", &streams));
    // Jobs of others are for workers to read.
    asked.extend(of("MSG.GET", &[RESULTS, TEXTS]));
    asked.extend(of("PURGE", &[RESULTS]));
    asked
}

/// Returns the subjects as lines of a list.
fn list(indent: &str, items: &[String]) -> String {
    let lines = items.iter().map(|it| format!("{indent}{it}\n"));
    lines.collect()
}

fn quoted(subjects: &[String]) -> Vec<String> {
    subjects.iter().map(|it| format!("\"{it}\"")).collect()
}

/// Returns what the account of workers has for those of users.
fn exports() -> Vec<String> {
    let services = asked("*").into_iter();
    let services = services.map(|it| format!("{{ service: \"{it}\" }}"));
    let streams = HEARD.iter().map(|it| format!("{{ stream: \"{it}\" }}"));
    services.chain(streams).collect()
}

/// Returns what a subject of the account of workers is in that of a user.
fn own(subject: &str) -> String {
    match subject.strip_prefix(API) {
        Some(rest) => format!("{OWN_API}{rest}"),
        None => subject.to_owned(),
    }
}

/// Returns the account of a user.
fn user(name: &str, key: &str) -> String {
    let asked = asked(name);
    let import = |kind: &str, subject: &str| {
        let own = own(subject);
        let to = match own == subject {
            true => String::new(),
            false => format!(", to: {own:?}"),
        };
        format!("{{ {kind}: {{ account: {WORKER}, subject: {subject:?} }}{to} }}")
    };
    let services = asked.iter().map(|it| import("service", it));
    let streams = HEARD.iter().map(|it| import("stream", it));
    let imports: Vec<String> = services.chain(streams).collect();
    let asked: Vec<String> = asked.iter().map(|it| own(it)).collect();
    let heard: Vec<String> = HEARD.iter().map(|it| (*it).to_owned()).collect();
    format!(
        "  # {name}\n  {name} {{\n    imports: [\n{}    ]\n    users: [\n{}    ]\n  }}\n",
        list("      ", &imports),
        key_with(name, key, &asked, heard)
    )
}

/// Returns the entry of a worker in the account of workers.
fn worker(name: &str, key: &str) -> String {
    let own = if name == WORKER { "*" } else { name };
    let mut publish = asked(name);
    // It asks nobody, as the users do.
    publish.retain(|it| !it.starts_with("autocomp.jobs") && !it.starts_with("autocomp.demands"));
    publish.extend([JOBS, TRIES].map(|it| format!("{API}.STREAM.MSG.GET.{it}")));
    publish.extend([
        format!("autocomp.workers.{own}"),
        format!("autocomp.results.{own}.*"),
        "autocomp.tries.*".to_owned(),
        format!("{API}.CONSUMER.*.{JOBS}.>"),
        format!("{API}.CONSUMER.*.*.{JOBS}.>"),
        format!("$JS.ACK.{JOBS}.>"),
    ]);
    let heard = [
        "autocomp.hello",
        "autocomp.workers.*",
        "autocomp.demands.*.*",
    ];
    let heard = heard.map(str::to_owned).to_vec();
    format!("      # {name}\n{}", key_with(name, key, &publish, heard))
}

/// Returns a key with what it may do.
fn key_with(name: &str, key: &str, publish: &[String], mut subscribe: Vec<String>) -> String {
    subscribe.push(format!("_INBOX_{name}.>"));
    format!(
        "      {{\n        nkey: {key}\n        permissions {{\n          publish: [\n{}          \
         ]\n          subscribe: [\n{}          ]\n        }}\n      }}\n",
        list("            ", &quoted(publish)),
        list("            ", &quoted(&subscribe))
    )
}

//! Everything that a laboratory needs for one queue: the server's configuration, and access for
//! workers and users.

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
        let (written, users) = self.let_in(folder, workers, authorities.is_some())?;
        create(
            folder,
            Self::CONFIGURATION,
            &self.configuration(&users),
            0o644,
        )?;
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
            remedy: "add them by hand, or write another folder".to_owned(),
        };
        let text = fs::read_to_string(&path)
            .map_err(|error| unusable(&format!("cannot be read: {error}")))?;
        let end = text
            .rfind("  ]\n}")
            .ok_or_else(|| unusable("does not end as `autocomp worker init` writes it"))?;
        for name in self.workers.iter().chain(&self.users) {
            if text.contains(&format!("    # {name}\n")) {
                return Err(unusable(&format!("has `{name}` already")));
            }
        }
        let is_encrypted = folder.join(Self::AUTHORITIES).exists();
        let (written, users) = self.let_in(folder, &self.workers, is_encrypted)?;
        let changed = format!("{}{users}{}", &text[..end], &text[end..]);
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
    ) -> Result<(Vec<PathBuf>, String), QueueError> {
        let mut entries = String::new();
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
            create(folder, &file, &access(name, is_encrypted), 0o600)?;
            written.push(folder.join(file));
            entries.push_str(&user(name, works, &key.public_key()));
        }
        Ok((written, entries))
    }

    fn configuration(&self, users: &str) -> String {
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
             # A user may publish jobs in the own name only, and hear no answer to what others\n\
             # ask the server. Workers alone take jobs and answer them. The keys are the public\n\
             # halves; the others are in the files FOLDER/NAME.nk of their owners.\n\
             authorization {{\n  users = [\n{users}  ]\n}}\n",
            Self::CONFIGURATION,
            self.listen,
            self.store_bytes
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
    written.map_err(|error| unwritable(folder, error))
}

/// Returns the access file of a user.
fn access(name: &str, is_encrypted: bool) -> String {
    let mut text = format!(
        "# For `--queue-access`; the file with the key lies beside this one.\n\
         user = \"{name}\"\nnkey = \"{name}.nk\"\n"
    );
    if is_encrypted {
        let authorities = Laboratory::AUTHORITIES;
        let _ = writeln!(text, "authorities = {authorities:?}\ntls = true");
    }
    text
}

/// Returns the entry of a user in the configuration.
fn user(name: &str, works: bool, key: &str) -> String {
    let streams = [JOBS, RESULTS, TRIES, TEXTS];
    let mut publish = vec![
        "autocomp.hello".to_owned(),
        format!("autocomp.texts.{name}.*.*"),
    ];
    for verb in ["INFO", "CREATE"] {
        let of = |it: &&str| format!("$JS.API.STREAM.{verb}.{it}");
        publish.extend(streams.iter().map(of));
    }
    // Jobs of others are for workers to read.
    let read: &[&str] = if works { &streams } else { &[RESULTS, TEXTS] };
    publish.extend(read.iter().map(|it| format!("$JS.API.STREAM.MSG.GET.{it}")));
    publish.push(format!("$JS.API.STREAM.PURGE.{RESULTS}"));
    let mut subscribe = vec![
        format!("_INBOX_{name}.>"),
        "autocomp.hello".to_owned(),
        "autocomp.workers.*".to_owned(),
        "autocomp.demands.*.*".to_owned(),
    ];
    if works {
        let own = if name == WORKER { "*" } else { name };
        publish.push(format!("autocomp.workers.{own}"));
        publish.push(format!("autocomp.results.{own}.*"));
        publish.push("autocomp.tries.*".to_owned());
        publish.push(format!("$JS.API.CONSUMER.*.{JOBS}.>"));
        publish.push(format!("$JS.API.CONSUMER.*.*.{JOBS}.>"));
        publish.push(format!("$JS.ACK.{JOBS}.>"));
    } else {
        publish.push(format!("autocomp.jobs.{name}.>"));
        publish.push(format!("autocomp.demands.{name}.*"));
        subscribe.push("autocomp.results.*.*".to_owned());
    }
    let list = |subjects: &[String]| {
        let lines = subjects.iter().map(|it| format!("          \"{it}\"\n"));
        lines.collect::<String>()
    };
    format!(
        "    # {name}\n    {{\n      nkey: {key}\n      permissions {{\n        publish: [\n{}        \
         ]\n        subscribe: [\n{}        ]\n      }}\n    }}\n",
        list(&publish),
        list(&subscribe)
    )
}

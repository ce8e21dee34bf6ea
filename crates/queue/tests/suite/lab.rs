//! A laboratory as people have it: what is written for it, and its server.

use crate::nats::Nats;
use async_nats::Client;
use autocomp_queue::{Access, Laboratory};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A laboratory whose server runs.
pub struct Lab {
    folder: TempDir,
    /// The access files.
    pub written: Vec<PathBuf>,
    pub nats: Nats,
}

impl Lab {
    pub fn new(workers: &[&str], users: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let written = laboratory(workers, users).write(folder.path()).unwrap();
        let nats = Nats::with(accounts(&configuration(folder.path())));
        Self {
            folder,
            written,
            nats,
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Lets another user in while the server runs.
    pub fn add(&self, user: &str) {
        laboratory(&[], &[user]).add_to(self.folder()).unwrap();
        self.nats.reload(accounts(&configuration(self.folder())));
    }

    pub fn access(&self, name: &str) -> Access {
        let path = self.folder().join(format!("{name}.toml"));
        Access::new(&self.nats.address(), Some(&path)).unwrap()
    }

    /// Connects as somebody with a program of the own.
    pub async fn client(&self, name: &str) -> Client {
        let seed = fs::read_to_string(self.folder().join(format!("{name}.nk"))).unwrap();
        let options = async_nats::ConnectOptions::new().nkey(seed);
        let options = options.custom_inbox_prefix(format!("_INBOX_{name}"));
        options.connect(self.nats.address()).await.unwrap()
    }
}

pub fn laboratory(workers: &[&str], users: &[&str]) -> Laboratory {
    let named = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    Laboratory {
        workers: named(workers),
        users: named(users),
        listen: "127.0.0.1:4222".to_owned(),
        tls: None,
        store_bytes: 1 << 30,
    }
}

/// Returns the configuration of the server of a laboratory.
pub fn configuration(folder: &Path) -> String {
    fs::read_to_string(folder.join(Laboratory::CONFIGURATION)).unwrap()
}

/// Returns who is let in, without where the server listens and keeps its streams.
fn accounts(configuration: &str) -> &str {
    let begin = configuration.find("\naccounts").unwrap();
    &configuration[begin..]
}

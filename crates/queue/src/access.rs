//! How a queue is reached: its address, and a file with whatever is secret.

use crate::error::QueueError;
use crate::laboratory::WORKER;
use crate::names::one_line;
use async_nats::ConnectOptions;
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Secrets never stand on a command line or in an address.
const REMEDY: &str = "write the names of files with the secrets into an access file, which \
                      `autocomp worker init` makes and docs/workers.md explains";

/// The longest word of an access file that messages repeat, characters: the longest name that it
/// may have, and shorter than any key.
const LONGEST_NAME: usize = 16;

/// What the subjects of JetStream begin with in the account that has it.
pub(crate) const API: &str = "$JS.API";

/// The name of those who say none.
const NOBODY: &str = "anybody";

/// What an access file says. Paths in it are relative to its folder.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    /// The name under which jobs are published; the user of the server's configuration.
    user: Option<String>,
    /// File with the password of the user.
    password: Option<PathBuf>,
    /// File with the seed of the user's key (`SU…`).
    nkey: Option<PathBuf>,
    /// File with a JWT and the seed of its key (`.creds`).
    credentials: Option<PathBuf>,
    /// Certificates of authorities that the server's certificate is believed from (PEM).
    authorities: Option<PathBuf>,
    /// Certificate of the user (PEM), and its key.
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    /// Whether only an encrypted connection will do.
    tls: bool,
    /// What the subjects of JetStream begin with, if the user's account has it from another one.
    api: Option<String>,
}

/// How a queue is reached. Printing it shows no secret.
#[derive(Clone)]
pub struct Access {
    address: String,
    user: String,
    file: File,
    secret: Secret,
}

#[derive(Clone)]
enum Secret {
    None,
    Password(String),
    Nkey(String),
    Credentials(String),
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("address", &self.address)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Access {
    /// Takes an address (`nats://HOST`, `tls://HOST:PORT`) and, if the server wants to know who
    /// comes, the access file that says so.
    ///
    /// # Errors
    /// [`QueueError::Access`] if the address holds a secret, or a file is unusable or readable
    /// by others.
    pub fn new(address: &str, file: Option<&Path>) -> Result<Self, QueueError> {
        let shown = address.rsplit_once('@').map_or(address, |(_, host)| host);
        // A path or a query may hold a secret, too.
        let shown = shown
            .trim_start_matches("nats://")
            .trim_start_matches("tls://");
        let shown = one_line(shown.split(['/', '?', '#']).next().unwrap_or_default());
        let refused = |what: &str, remedy: &str| QueueError::Address {
            shown: shown.clone(),
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        };
        if address.contains('@') {
            return Err(refused("a secret does not belong into an address", REMEDY));
        }
        let is_bare = !address.contains("://");
        if !is_address(address) {
            return Err(refused(
                "it is no address of a NATS server",
                "name it as nats://HOST, nats://HOST:PORT or tls://HOST",
            ));
        }
        let address = match is_bare {
            true => format!("nats://{address}"),
            false => address.to_owned(),
        };
        let Some(path) = file else {
            return Ok(Self {
                address,
                user: NOBODY.to_owned(),
                file: File::default(),
                secret: Secret::None,
            });
        };
        let text = read(path)?;
        refuse_mode(path, 0o022, "write it", "it says whom to believe", "go-w")?;
        let mut file: File =
            toml::from_str(&text).map_err(|error| unusable(path, &without_text(&text, &error)))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        for named in [
            &mut file.password,
            &mut file.nkey,
            &mut file.credentials,
            &mut file.authorities,
            &mut file.certificate,
            &mut file.key,
        ] {
            *named = named.take().map(|it| folder.join(it));
        }
        let secret = match (&file.password, &file.nkey, &file.credentials) {
            (None, None, None) => Secret::None,
            (Some(named), None, None) => Secret::Password(read_secret(path, "password", named)?),
            (None, Some(named), None) => Secret::Nkey(read_secret(path, "nkey", named)?),
            (None, None, Some(named)) => {
                Secret::Credentials(read_secret(path, "credentials", named)?)
            }
            _ => {
                let what = "it names more than one of `password`, `nkey` and `credentials`";
                return Err(unusable(path, &what));
            }
        };
        if let Some(key) = &file.key {
            read_secret(path, "key", key)?;
        }
        if file.certificate.is_some() != file.key.is_some() {
            return Err(unusable(path, &"`certificate` and `key` go together"));
        }
        let user = file.user.clone().unwrap_or_else(|| NOBODY.to_owned());
        if crate::names::token(&user) != user {
            let what = "`user` may hold letters, digits, `-` and `_` only";
            return Err(unusable(path, &what));
        }
        Ok(Self {
            address,
            user,
            file,
            secret,
        })
    }

    /// Returns the address, which holds no secret.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the name under which jobs are published.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the only name that a worker with this key may have, if it has a key of its own.
    #[must_use]
    pub fn worker(&self) -> Option<&str> {
        (![NOBODY, WORKER].contains(&self.user.as_str())).then_some(self.user.as_str())
    }

    /// Returns what the subjects of JetStream begin with.
    pub(crate) fn api(&self) -> &str {
        self.file.api.as_deref().unwrap_or(API)
    }

    /// Returns how to connect.
    pub(crate) fn options(&self) -> Result<ConnectOptions, QueueError> {
        let options = match self.user == NOBODY {
            true => ConnectOptions::new(),
            // Where users may hear answers to themselves only.
            false => ConnectOptions::new().custom_inbox_prefix(format!("_INBOX_{}", self.user)),
        };
        let options = match &self.secret {
            Secret::None => options,
            Secret::Password(password) => {
                options.user_and_password(self.user.clone(), password.clone())
            }
            Secret::Nkey(seed) => options.nkey(seed.clone()),
            Secret::Credentials(text) => {
                // The library's error would show what it does not understand.
                options.credentials(text).map_err(|_| QueueError::Access {
                    path: shown(self.file.credentials.as_deref()),
                    what: "it holds no JWT with the seed of a key".to_owned(),
                    remedy: "make it with `nsc generate creds`".to_owned(),
                })?
            }
        };
        let options = match &self.file.authorities {
            Some(path) => options.add_root_certificates(path.clone()),
            None => options,
        };
        let options = match (&self.file.certificate, &self.file.key) {
            (Some(certificate), Some(key)) => {
                options.add_client_certificate(certificate.clone(), key.clone())
            }
            _ => options,
        };
        let is_encrypted = self.file.tls || self.address.starts_with("tls://");
        Ok(options.require_tls(is_encrypted))
    }
}

/// Returns what is wrong with a text, and where, without anything of it that may be a secret:
/// the file with the key may have been named in place of this one.
fn without_text(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|it| text.get(..it.start));
    let line = before.unwrap_or_default().matches('\n').count() + 1;
    let words = error
        .message()
        .lines()
        .next()
        .unwrap_or_default()
        .split('`');
    let shown: Vec<&str> = words
        .map(
            |it| match it.chars().any(char::is_whitespace) || it.len() <= LONGEST_NAME {
                true => it,
                false => "…",
            },
        )
        .collect();
    format!("line {line}: {}", shown.join("`"))
}

/// Returns whether an address is a host with or without a port, and nothing else: no path and no
/// query, which nobody would read, and which may hold a secret.
fn is_address(address: &str) -> bool {
    let host = ["nats://", "tls://"]
        .iter()
        .find_map(|it| address.strip_prefix(it));
    let host = host.unwrap_or(address);
    // An address of version 6 has colons and stands in brackets.
    let (name, port) = match host.rsplit_once(']') {
        Some((name, port)) => (
            name.strip_prefix('[').unwrap_or_default(),
            port.strip_prefix(':'),
        ),
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    let is_part = |c: char| c.is_alphanumeric() || ['.', '-', '_', ':', '%'].contains(&c);
    let is_port = port.is_none_or(|it| it.parse::<u16>().is_ok_and(|it| it != 0));
    !name.is_empty() && name.chars().all(is_part) && is_port
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

fn unusable(path: &Path, what: &dyn std::fmt::Display) -> QueueError {
    QueueError::Access {
        path: path.display().to_string(),
        what: what.to_string().trim_end().to_owned(),
        remedy: "correct the file; docs/workers.md says what it may hold".to_owned(),
    }
}

fn read(path: &Path) -> Result<String, QueueError> {
    autocomp_eval::given_file::read_text(path).map_err(|error| unusable(path, &error))
}

/// Refuses a file that gives others one of the `rights`, which lets them do something that they
/// must not, and names the change of mode that helps.
fn refuse_mode(
    path: &Path,
    rights: u32,
    lets: &str,
    why: &str,
    change: &str,
) -> Result<(), QueueError> {
    let metadata = fs::metadata(path).map_err(|error| unusable(path, &error))?;
    if !metadata.is_file() {
        return Err(unusable(path, &"it is no file"));
    }
    let mode = metadata.permissions().mode();
    if mode & rights == 0 {
        return Ok(());
    }
    Err(QueueError::Access {
        path: path.display().to_string(),
        what: format!("others may {lets} (mode {:03o}), and {why}", mode & 0o777),
        remedy: format!(
            "take the right from them: chmod {change} {}",
            path.display()
        ),
    })
}

/// Returns the secret in the file that `field` of the access file `of` names. One that is not
/// there is not named in turn: whoever wrote the secret itself there would see it in a log.
fn read_secret(of: &Path, field: &str, path: &Path) -> Result<String, QueueError> {
    if !path.exists() {
        let what = format!(
            "`{field}` names a file that is not there; the secret itself does not belong here"
        );
        return Err(unusable(of, &what));
    }
    refuse_mode(path, 0o077, "read it", "it holds a secret", "600")?;
    let text = read(path)?;
    match text.trim() {
        "" => Err(unusable(path, &"it is empty")),
        secret => Ok(secret.to_owned()),
    }
}

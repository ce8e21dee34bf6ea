//! A program as a model: the prompt on its standard input, the reply on its
//! standard output.
//!
//! The program gets an empty environment except for a few harmless variables,
//! so that no key of a provider leaks into it; what it needs beyond that is
//! named in the model string: `command::env:NAME,OTHER program arguments`.

use crate::classify::shorten;
use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};

use crate::model::{ModelSpec, PROVIDERS};
use crate::variables::Variables;
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// Variables that programs commonly need and that hold no secret.
const PASSED_VARIABLES: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
];

/// The exit status by which a program says that it may work later (`EX_TEMPFAIL` of sysexits.h).
const TRY_AGAIN: i32 = 75;

/// The most bytes of a reply.
const LARGEST_REPLY: u64 = 4 << 20;
/// The most bytes of standard error that are looked at.
const LARGEST_COMPLAINT: u64 = 64 << 10;

/// A program that answers prompts. Prompts are its whole input; nothing of it
/// is ever part of a command line.
pub struct CommandClient {
    model: String,
    words: Vec<String>,
    variables: Vec<(String, OsString)>,
}

impl CommandClient {
    /// Creates a client of the program in `spec.name`, which is split into
    /// words like a shell does it (quotes and backslashes, no expansion). Of
    /// `variables` it gets those that every program gets, and those that it names.
    ///
    /// # Errors
    /// [`LlmErrorKind::InvalidRequest`] if the words cannot be split, or a key
    /// of a provider is to be passed on.
    pub fn new(spec: &ModelSpec, variables: &Variables) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let invalid = |reason: &str| LlmError::new(LlmErrorKind::InvalidRequest, &model, reason);
        let mut words = split_words(&spec.name).map_err(invalid)?;
        let mut names_passed: Vec<String> =
            PASSED_VARIABLES.iter().map(ToString::to_string).collect();
        if let Some(names) = words.first().and_then(|word| word.strip_prefix("env:")) {
            let is_key = |name: &str| {
                PROVIDERS
                    .iter()
                    .any(|info| info.secret_variables().any(|secret| secret == name))
            };
            if let Some(name) = names.split(',').find(|name| is_key(name)) {
                return Err(invalid(&format!(
                    "{name} is a provider's key and is not passed on"
                )));
            }
            names_passed.extend(
                names
                    .split(',')
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned),
            );
            words.remove(0);
        }
        if words.is_empty() {
            return Err(invalid("the command is empty"));
        }
        let passed = names_passed.into_iter().filter_map(|name| {
            let value = variables.get(&name)?.to_owned();
            Some((name, value))
        });
        Ok(Self {
            model,
            words,
            variables: passed.collect(),
        })
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    async fn run(&self, prompt: String) -> std::io::Result<Outcome> {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A call that is given up takes its program with it.
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        let mut child = command.spawn()?;
        #[cfg(unix)]
        let group = GroupGuard(child.id());
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that answers without reading everything closes the pipe.
                let _ = stdin.write_all(prompt.as_bytes()).await;
            }
        };
        let mut reply = Vec::new();
        let mut complaint = Vec::new();
        let read = async {
            match stdout {
                Some(stdout) => stdout.take(LARGEST_REPLY + 1).read_to_end(&mut reply).await,
                None => Ok(0),
            }
        };
        let read_complaint = async {
            match stderr {
                Some(mut stderr) => {
                    let mut head = (&mut stderr).take(LARGEST_COMPLAINT);
                    head.read_to_end(&mut complaint).await?;
                    // Reads on, so that a talkative program does not block.
                    tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await
                }
                None => Ok(0),
            }
        };
        let wait = async {
            let status = child.wait().await;
            // Programs left behind would keep the pipes open.
            #[cfg(unix)]
            drop(group);
            status
        };
        let ((), read, _, status) = tokio::join!(write, read, read_complaint, wait);
        read?;
        Ok(Outcome {
            status: status?,
            reply,
            complaint,
        })
    }
}

struct Outcome {
    status: ExitStatus,
    reply: Vec<u8>,
    complaint: Vec<u8>,
}

/// Kills the program's process group when a call ends or is given up, so that
/// no grandchild outlives it.
#[cfg(unix)]
struct GroupGuard(Option<u32>);

#[cfg(unix)]
impl Drop for GroupGuard {
    fn drop(&mut self) {
        let group = self
            .0
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // The group may be gone already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

#[async_trait::async_trait]
impl LlmClient for CommandClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let outcome = self.run(request.transcript()).await.map_err(|error| {
            self.error(
                LlmErrorKind::Unavailable,
                format!("cannot run {:?}: {error}", self.words[0]),
            )
        })?;
        let text = String::from_utf8_lossy(&outcome.reply).into_owned();
        // A program whose output is no longer read may die of it, so this comes first.
        if LARGEST_REPLY < outcome.reply.len() as u64 {
            return Err(self.error(LlmErrorKind::Oversized, "the reply is larger than 4 MiB"));
        }
        if !outcome.status.success() {
            let complaint = String::from_utf8_lossy(&outcome.complaint);
            let kind = match outcome.status.code() {
                Some(TRY_AGAIN) => LlmErrorKind::Overload,
                _ => LlmErrorKind::ProgramFailed,
            };
            let mut error = self.error(
                kind,
                format!(
                    "the program failed ({}): {}",
                    outcome.status,
                    shorten(complaint.trim())
                ),
            );
            error.partial = text.into();
            return Err(error);
        }
        if text.trim().is_empty() {
            return Err(self.error(LlmErrorKind::Empty, "the program printed nothing"));
        }
        Ok(Completion {
            text,
            model: self.model.clone(),
            tokens: None,
            reported_cost: None,
            attempts: Vec::new(),
        })
    }
}

/// Splits a command line into words: blanks separate, quotes and backslashes
/// protect. Nothing is expanded.
pub fn split_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err("the command has a quote that is never closed"),
                        Some(char) if char == quote => break,
                        Some('\\') if quote == '"' => match chars.next() {
                            Some(char @ ('"' | '\\' | '$' | '`')) => word.push(char),
                            Some(char) => word.extend(['\\', char]),
                            None => return Err("the command has a quote that is never closed"),
                        },
                        Some(char) => word.push(char),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(char) => word.get_or_insert_default().push(char),
                None => return Err("the command ends with a backslash"),
            },
            char if char.is_whitespace() => words.extend(word.take()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    Ok(words)
}

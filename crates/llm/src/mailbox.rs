//! A folder as a model: request files out, answer files in.
//!
//! For a request, the file `<id>.request.md` appears in the folder: the whole
//! prompt, nothing else. The identifier begins with what is asked for: the
//! phase and the task (`plan-i1.b0.p2-…`). Whoever answers writes the reply to `<id>.answer.md`,
//! best under another name first and then renamed; a file that is still
//! growing is waited for. An answer that starts with `ERROR` declines the
//! request, and is renamed to `<id>.declined.md`, so that asking again asks anew.
//! Once an answer is taken, `<id>.request.md` is renamed to
//! `<id>.done.md`; answers are never deleted.
//!
//! It ends with a hash of the prompt and of how often this client was
//! asked the same for the same task before, so a run that was interrupted finds the answers that
//! were given meanwhile, in any order.

use crate::classify::shorten;
use crate::client::LlmClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};
use crate::model::ModelSpec;
use autocomp_core::ContentHasher;
use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the folder is looked at.
const POLL: Duration = Duration::from_millis(100);
/// The most bytes of an answer.
const LARGEST_ANSWER: u64 = 4 << 20;

/// A folder in which somebody answers.
#[derive(Debug)]
pub struct MailboxClient {
    model: String,
    folder: PathBuf,
    /// Requests under way by label and prompt, so that equal ones asked at the
    /// same time get answers of their own.
    asked: Mutex<HashMap<(String, String), u32>>,
}

impl MailboxClient {
    /// Creates a client of the folder in `spec.name`, which is made if it does not exist.
    ///
    /// # Errors
    /// [`LlmErrorKind::Unavailable`] if the folder cannot be made.
    pub fn new(spec: &ModelSpec) -> Result<Self, LlmError> {
        let model = spec.to_string();
        let folder = PathBuf::from(&spec.name);
        std::fs::create_dir_all(&folder).map_err(|error| {
            let text = format!("cannot make the folder {}: {error}", folder.display());
            LlmError::new(LlmErrorKind::Unavailable, &model, text)
        })?;
        Ok(Self {
            model,
            folder,
            asked: Mutex::default(),
        })
    }

    fn error(&self, kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        LlmError::new(kind, &self.model, message)
    }

    fn identifier(&self, label: &str, prompt: &str) -> String {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked
            .entry((label.to_owned(), prompt.to_owned()))
            .or_default();
        *count += 1;
        let mut hasher = ContentHasher::new("mailbox");
        hasher.update(prompt.as_bytes());
        hasher.update(&count.to_le_bytes());
        let hash = hasher.finish().to_string();
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let label: String = label.chars().filter(|c| is_fine(*c)).take(80).collect();
        match label.trim_start_matches('.') {
            "" => hash[..16].to_owned(),
            label => format!("{label}-{}", &hash[..8]),
        }
    }

    /// Notes that the latest request for `label` and `prompt` was given up without an answer,
    /// so that asking again finds the answer that comes later.
    fn give_back(&self, label: &str, prompt: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = asked.get_mut(&(label.to_owned(), prompt.to_owned())) {
            *count = count.saturating_sub(1);
        }
    }
}

/// Gives a request back if its call is cancelled.
struct Pending<'client> {
    client: &'client MailboxClient,
    label: &'client str,
    prompt: &'client str,
    answered: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.client.give_back(self.label, self.prompt);
        }
    }
}

#[async_trait::async_trait]
impl LlmClient for MailboxClient {
    fn model(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        let prompt = request.transcript();
        let id = self.identifier(&request.label, &prompt);
        let mut pending = Pending {
            client: self,
            label: &request.label,
            prompt: &prompt,
            answered: false,
        };
        let request_path = self.folder.join(format!("{id}.request.md"));
        let answer_path = self.folder.join(format!("{id}.answer.md"));
        let unavailable = |error: std::io::Error| {
            let text = format!("cannot use the folder {}: {error}", self.folder.display());
            self.error(LlmErrorKind::Unavailable, text)
        };
        if !answer_path.exists() {
            write_whole(&request_path, &prompt).map_err(unavailable)?;
        }
        let mut last_size = None;
        let answer = loop {
            match std::fs::metadata(&answer_path) {
                Ok(metadata) if LARGEST_ANSWER < metadata.len() => {
                    return Err(
                        self.error(LlmErrorKind::Oversized, "the answer is larger than 4 MiB")
                    );
                }
                // Two looks with the same size: nobody is writing any more.
                Ok(metadata) if 0 < metadata.len() && last_size == Some(metadata.len()) => {
                    break std::fs::read(&answer_path).map_err(unavailable)?;
                }
                Ok(metadata) => last_size = Some(metadata.len()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    if !self.folder.is_dir() {
                        return Err(unavailable(error));
                    }
                }
                Err(error) => return Err(unavailable(error)),
            }
            tokio::time::sleep(POLL).await;
        };
        pending.answered = true;
        // The request may have been tidied away already.
        let _ = std::fs::rename(&request_path, self.folder.join(format!("{id}.done.md")));
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some(reason) = text.strip_prefix("ERROR") {
            let declined = self.folder.join(format!("{id}.declined.md"));
            std::fs::rename(&answer_path, declined).map_err(unavailable)?;
            let reason = shorten(reason.trim_start_matches(':').trim());
            return Err(self.error(
                LlmErrorKind::Refused,
                format!("the answer is a refusal: {reason}"),
            ));
        }
        if text.trim().is_empty() {
            return Err(self.error(LlmErrorKind::Empty, "the answer holds no text"));
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

/// Writes a file so that readers see it whole or not at all.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file = std::fs::File::create(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)
}

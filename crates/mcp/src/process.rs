//! The program, run for a client.

use crate::calls::{Refusal, Words};
use crate::{McpSettings, Variable};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Bytes of an answer that are taken at most.
const LONGEST_ANSWER: u64 = 32 << 20;
/// Bytes of what the program says beside that are kept: the last ones.
const LAST_WORDS: usize = 8_000;
/// Bytes of a line of it.
const LONGEST_LINE: u64 = 8_000;

/// How a call of the program ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its result.
    pub result: String,
    /// What it said last.
    pub said: String,
}

/// Starts the program below the folder with `words`, and `environment` as all that it sees.
pub fn start(
    settings: &McpSettings,
    words: &Words,
    environment: &[Variable],
) -> Result<Child, Refusal> {
    let mut command = Command::new(&settings.program);
    command
        .args(words.words())
        .current_dir(&settings.folder)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What stops the server stops searches through it, once.
        .process_group(0)
        .kill_on_drop(true);
    // What is killed cannot stop its searches; Linux does it then.
    #[cfg(target_os = "linux")]
    // SAFETY: one system call, which needs nothing of the parent's.
    unsafe {
        use rustix::process::{Signal, set_parent_process_death_signal};
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::INT))?));
    }
    let started = command.spawn();
    started.map_err(|error| Refusal::new(format!("the program cannot be started: {error}")))
}

/// Waits for the end of a call; `tell` hears what it says meanwhile, line by line.
pub async fn ended(mut child: Child, mut tell: impl FnMut(&str)) -> Ended {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut result = Vec::new();
    let mut said = String::new();
    let read_result = async {
        if let Some(stdout) = stdout {
            // A broken pipe is the end of the answer, and the exit code tells the rest.
            let _ = stdout.take(LONGEST_ANSWER).read_to_end(&mut result).await;
        }
    };
    let listen = async {
        if let Some(stderr) = stderr {
            hear(stderr, |line| {
                tell(line);
                said.push_str(line);
                said.push('\n');
                if LAST_WORDS < said.len() {
                    let mut from = said.len() - LAST_WORDS;
                    while !said.is_char_boundary(from) {
                        from += 1;
                    }
                    said.drain(..from);
                }
            })
            .await;
        }
    };
    tokio::join!(read_result, listen);
    let code = child.wait().await.ok().and_then(|it| it.code());
    Ended {
        code,
        result: String::from_utf8_lossy(&result).into_owned(),
        said,
    }
}

/// Hands on each line of a stream; longer ones come in pieces.
async fn hear(stream: impl AsyncRead + Unpin, mut tell: impl FnMut(&str)) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut piece = (&mut stream).take(LONGEST_LINE);
        match piece.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => tell(String::from_utf8_lossy(&line).trim_end()),
        }
    }
}

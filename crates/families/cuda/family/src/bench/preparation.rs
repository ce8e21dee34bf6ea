//! From the text of a kernel to what can be run.

use super::CudaBench;
use crate::compiler::{CALLED_AGAIN, Compiled, KERNEL_FILE};
use crate::requests::{Recording, Request};
use crate::texts::TEXTS;
use autocomp_c::MAX_SOURCE_BYTES;
use autocomp_core::{Diagnostic, Language as _, Outcome, SourceLocation, Stage};
use autocomp_cuda_sim::{Kernel, Module, decode, parse};
use autocomp_eval::{EvalError, Verdict};
use std::collections::BTreeMap;

/// A kernel that is ready to run.
pub(crate) struct Ready {
    pub(crate) module: Module,
    pub(super) kernels: BTreeMap<String, Kernel>,
    pub(crate) recording: Recording,
    pub(crate) ptx: String,
}

impl CudaBench {
    pub(crate) fn prepare(&self, source: &str) -> Result<Result<Ready, Verdict>, EvalError> {
        let failed = |outcome, found: Vec<Diagnostic>| Ok(Err(Verdict::failed(outcome, found)));
        if MAX_SOURCE_BYTES < source.len() {
            let mut found = Diagnostic::error(
                Stage::Test,
                "too-large",
                format!(
                    "the kernel has {} bytes, of which it may have {MAX_SOURCE_BYTES}",
                    source.len()
                ),
            );
            found.stage = Stage::Check;
            return failed(Outcome::Rejected, vec![found]);
        }
        if crate::CudaCpp.flaw(source, &self.problem.entry).is_some() {
            let mut found = Diagnostic::error(
                Stage::Test,
                "no-entry",
                format!(
                    "it is no whole kernel file that defines the host function {}",
                    self.problem.entry
                ),
            );
            found.stage = Stage::Check;
            return failed(Outcome::Rejected, vec![found]);
        }
        let Compiled { ptx, recording } = match self.compiler.compile(source)? {
            Ok(compiled) => compiled,
            Err(found) => {
                let outcome = match found.first() {
                    Some(it) if it.code == CALLED_AGAIN => Outcome::Wrong,
                    Some(it) if it.stage == Stage::Test => Outcome::Crashed,
                    _ => Outcome::BuildFailed,
                };
                return failed(outcome, found);
            }
        };
        let read = parse(&ptx, KERNEL_FILE).and_then(|module| {
            let kernels = decode(&module)?;
            Ok((module, kernels))
        });
        let (module, kernels) = match read {
            Ok(read) => read,
            Err(error) => {
                let message = match error.is_unsupported {
                    true => format!(
                        "the simulated GPU does not have what the kernel asks for: {}",
                        error.message
                    ),
                    false => error.to_string(),
                };
                let mut found = Diagnostic::error(Stage::Test, "not-simulated", message);
                found.stage = Stage::Build;
                found.remedy = TEXTS.remedy(&found.code);
                found.location = source_line(&ptx, error.line);
                let line = ptx.lines().nth((error.line as usize).saturating_sub(1));
                found
                    .notes
                    .extend(line.map(|line| format!("PTX: {}", line.trim())));
                return failed(Outcome::BuildFailed, vec![found]);
            }
        };
        let kernels: BTreeMap<String, Kernel> = kernels
            .into_iter()
            .map(|it| (it.name.clone(), it))
            .collect();
        for request in &recording.requests {
            let message = match request {
                Request::Launch(launch) if !kernels.contains_key(&launch.kernel) => format!(
                    "the host part launches {}, which is no kernel of the file",
                    launch.kernel
                ),
                request if request.absent(&module).is_some() => {
                    "the host part puts bytes into what is no variable of the device".to_owned()
                }
                _ => continue,
            };
            return failed(
                Outcome::Crashed,
                vec![Diagnostic::error(Stage::Test, "host-part", message)],
            );
        }
        Ok(Ok(Ready {
            module,
            kernels,
            recording,
            ptx,
        }))
    }
}

/// Returns the line of the kernel that made line `line` of the PTX, as the last `.loc` before it
/// says.
fn source_line(ptx: &str, line: u32) -> Option<SourceLocation> {
    let file = ptx.lines().find_map(|text| {
        let (number, name) = text
            .trim()
            .strip_prefix(".file")?
            .trim()
            .split_once(char::is_whitespace)?;
        name.trim_matches('"')
            .ends_with(KERNEL_FILE)
            .then_some(number)
    })?;
    let before = ptx.lines().take(line as usize);
    let line = before.filter_map(|text| {
        let mut words = text.trim().strip_prefix(".loc")?.split_whitespace();
        (words.next()? == file).then(|| words.next()?.parse().ok())?
    });
    line.last().map(|line| SourceLocation {
        file: KERNEL_FILE.to_owned(),
        line,
        column: None,
    })
}

//! What is said of a reference in Python that gives no answer.

use super::{FILE, REFUSED, Script};
use autocomp_catalog::Problem;
use autocomp_core::one_line;
use autocomp_eval::EvalError;
use autocomp_sandbox::{Exit, SandboxReport};
use serde::Deserialize;

/// What the caller says instead of an answer.
#[derive(Deserialize)]
struct Refusal {
    kind: String,
    message: String,
}

impl Script {
    /// Returns what is said of a reference that gave no answer to a case, but `rest`.
    pub(super) fn unanswered(
        &self,
        problem: &Problem,
        set: &str,
        rest: &[u8],
        report: &SandboxReport,
        cases: usize,
    ) -> EvalError {
        let name = &problem.name;
        let refusal = match rest.split_first() {
            Some((&REFUSED, json)) => serde_json::from_slice::<Refusal>(json).ok(),
            _ => None,
        };
        let Some(refusal) = refusal else {
            let is_killed = matches!(report.exit, Exit::Signal(libc::SIGKILL | libc::SIGXCPU));
            let (what, remedy) = if report.timed_out || is_killed {
                let (all, each) = (self.cpu_seconds(cases), self.call_seconds);
                let calls = match cases {
                    1 => "call".to_owned(),
                    cases => format!("of {cases} calls"),
                };
                (
                    format!(
                        "does not end within {all} s of processor time, {each} for each {calls} and the start"
                    ),
                    "make it faster, or the problem smaller; a reference in C is often faster",
                )
            } else {
                (
                    "ended without an answer".to_owned(),
                    "let it return its results, and not end the process",
                )
            };
            let message = format!("{FILE} of {name} {what} (input set `{set}`)");
            let tail = report.stderr.text();
            let last = tail.trim().lines().last().unwrap_or_default();
            let said = match one_line(last, LONGEST_MESSAGE).as_str() {
                "" => String::new(),
                tail => format!("; it said last: {tail}"),
            };
            return EvalError::Input {
                message: format!("{message}{said}"),
                remedies: vec![remedy.into()],
            };
        };
        let Refusal { kind, message } = refusal;
        let message = one_line(&message, LONGEST_MESSAGE);
        if kind == "module" {
            return EvalError::Environment {
                message: format!(
                    "{FILE} of {name} imports `{message}`, which Python {} ({}) does not have",
                    self.interpreter.version,
                    self.interpreter.program.display()
                ),
                remedies: vec![
                    format!(
                        "a module of your own: write what it has into {FILE}, which is all that is read"
                    ),
                    format!(
                        "a package: install it: {}",
                        self.interpreter.installing(&message)
                    ),
                    format!(
                        "or have it in a virtual environment, whose Python comes first on PATH: python3 -m venv FOLDER && FOLDER/bin/pip install {message}, then PATH=FOLDER/bin:$PATH autocomp …"
                    ),
                ],
            };
        }
        let remedy = match kind.as_str() {
            "function" => {
                "define `def reference(…)` with one parameter for each buffer that is read, in their order"
            }
            "count" => "return the outputs in the order of their buffers, several as a tuple",
            "shape" => "return each output in the shape of its `[[buffer]]`",
            "dtype" => {
                "convert it, as in `.astype(np.int8)` or `.to(torch.int8)`, after rounding and clamping as the problem demands"
            }
            "masked" => "say what stands in their place, as in `.filled(0)`",
            "value" => {
                "return an array of NumPy, a tensor of PyTorch or numbers in lists for each output"
            }
            "range" => "clamp it to what the type has, or give the buffer another type",
            "memory" => "make the problem smaller: a reference may use 16 GiB of addresses",
            "confined" => {
                "a reference sees no files, programs or network: constants belong into its text, data into input sets"
            }
            _ => "correct reference.py of the problem",
        };
        let verb = if matches!(kind.as_str(), "exception" | "confined" | "memory") {
            "stops on"
        } else {
            "does not fit on"
        };
        EvalError::Input {
            message: match kind.as_str() {
                "function" => format!("{FILE} of {name} {message}"),
                _ => format!("{FILE} of {name} {verb} input set `{set}`: {message}"),
            },
            remedies: vec![remedy.into()],
        }
    }
}

/// Says that a reference answers otherwise when it is asked again.
pub(super) fn contradicted(problem: &Problem, set: &str) -> EvalError {
    EvalError::Input {
        message: format!(
            "{FILE} of {} contradicts itself: called again on input set `{set}`, it answers otherwise",
            problem.name
        ),
        remedies: vec![format!(
            "correct {FILE}: it must keep nothing from call to call, and draw no numbers"
        )],
    }
}

/// Characters that are told of what a reference says.
const LONGEST_MESSAGE: usize = 300;

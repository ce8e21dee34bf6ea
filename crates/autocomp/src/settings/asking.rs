//! The settings of models: how they are asked.

use autocomp_agents::{CodeForm, IsaChoice, LlmProposerSettings, StructuredOutput};
use autocomp_llm::{ConnectSettings, ReasoningEffort};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How models are asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AskingSettings {
    /// File with keys, readable by its owner only; the environment wins over it.
    pub keys: Option<PathBuf>,
    /// File with prices that add to the built-in table or override it.
    pub prices: Option<PathBuf>,
    /// Whether a model without a price may be used, at a cost counted as zero.
    pub allow_unknown_prices: bool,
    /// The most tokens per reply, reasoning included.
    pub max_output_tokens: u32,
    /// Sampling temperature; absent for the model's own.
    pub temperature: Option<f64>,
    /// How hard to think: `low`, `medium` or `high`; absent for the model's own.
    pub reasoning: Option<ReasoningEffort>,
    /// The form in which code is asked for: `whole` or `edits`.
    pub code_form: CodeForm,
    /// Most worked examples per prompt.
    pub most_examples: usize,
    /// Which replies are held to a JSON schema, where the provider can do that:
    /// `never`, `plans` or `all` (edits, too).
    pub structured_output: StructuredOutput,
    /// Kernels before the current one that prompts for plans show, the last ones; 64 at most.
    pub ancestors: usize,
    /// Share of the prompts for plans that show those kernels, from 0 to 1.
    pub ancestors_share: f64,
    /// Share of them that tell what the kernel costs, from 0 to 1; feedback tells it, too.
    pub score_share: f64,
    /// Share of them that tell how much of the peak the kernel reaches, from 0 to 1.
    pub utilization_share: f64,
    /// Share of them that tell what the hardware's counters say, from 0 to 1.
    pub feedback_share: f64,
    /// Attempts on the kernel and its relatives that prompts for plans list; 0 for none.
    pub tried: usize,
    /// Lessons of earlier runs that prompts for plans tell, if the run has a memory.
    pub lessons: usize,
    /// Whether some plans are for a whole schedule instead of one change.
    pub whole_schedules: bool,
    /// Whether some plans combine two kernels.
    pub combine: bool,
    /// Who chooses the sections of the ISA reference in prompts: `symbols` (those
    /// that explain a name in the kernel) or `model` (one more request per kernel).
    pub isa: IsaChoice,
    /// Whether code is asked for directly, without a plan.
    pub direct: bool,
    /// Seconds that one request may take.
    pub timeout_s: u64,
    /// Requests at once to each provider.
    pub concurrency: usize,
    /// Requests started per minute for each provider; absent for no limit.
    pub requests_per_minute: Option<u32>,
    /// Seconds that an answer in a mailbox may take.
    pub answer_timeout_s: u64,
    /// Calls for one request at most, the first included.
    pub attempts: usize,
    /// Seconds that all calls for one request and the waits between them may take.
    pub deadline_s: u64,
    /// Milliseconds before the second call, doubled for each further one, with jitter;
    /// longer if the provider asks for it.
    pub first_wait_ms: u64,
    /// The longest such wait.
    pub longest_wait_ms: u64,
    /// Failures in a row after which a model is set aside.
    pub failures: u32,
    /// Seconds for which it is set aside; doubled each time in a row.
    pub pause_s: u64,
    /// Seconds for which it is set aside at most.
    pub longest_pause_s: u64,
    /// Seconds to wait while every model is set aside, before the run stops.
    pub patience_s: u64,
}

impl Default for AskingSettings {
    fn default() -> Self {
        let asking = LlmProposerSettings::standard();
        let connect = ConnectSettings::standard();
        Self {
            keys: None,
            prices: None,
            allow_unknown_prices: connect.allow_unknown_prices,
            max_output_tokens: asking.max_output_tokens,
            temperature: asking.temperature,
            reasoning: asking.reasoning,
            code_form: asking.code_form,
            most_examples: asking.most_examples,
            structured_output: asking.structured_output,
            ancestors: asking.ancestors,
            ancestors_share: asking.shown.ancestors,
            score_share: asking.shown.score,
            utilization_share: asking.shown.utilization,
            feedback_share: asking.shown.feedback,
            tried: asking.tried,
            lessons: 8,
            whole_schedules: true,
            combine: true,
            isa: asking.isa,
            direct: asking.direct,
            timeout_s: connect.timeout.as_secs(),
            concurrency: connect.concurrency,
            requests_per_minute: connect.requests_per_minute,
            answer_timeout_s: connect.answer_timeout.as_secs(),
            attempts: connect.retry.max_attempts,
            deadline_s: connect.retry.deadline.as_secs(),
            first_wait_ms: connect.retry.first_delay.as_millis() as u64,
            longest_wait_ms: connect.retry.longest_delay.as_millis() as u64,
            failures: connect.breaker.failures,
            pause_s: connect.breaker.first_pause.as_secs(),
            longest_pause_s: connect.breaker.longest_pause.as_secs(),
            patience_s: asking.patience.as_secs(),
        }
    }
}

//! How language models are asked for plans and code.

use autocomp_llm::ReasoningEffort;
use std::time::Duration;

/// The form in which models give code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeForm {
    /// The whole kernel.
    Whole,
    /// Replacements of parts of the parent kernel.
    Edits,
}

/// Which replies are held to a JSON schema, where a provider can do that. Code
/// in JSON strings tends to be worse code (aider, "LLMs are bad at returning
/// code in JSON", 2024), so edits are not unless asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// None.
    Never,
    /// Plans and other lists.
    Plans,
    /// Plans and edits.
    All,
}

/// Who chooses the sections of the ISA reference that prompts show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IsaChoice {
    /// Nobody: those that explain a name in the kernel.
    Symbols,
    /// A planning model, once for each kernel; those of `Symbols` if it gives no
    /// usable answer.
    Model,
}

/// The share of the prompts for plans that show something, each from 0 to 1 and drawn by
/// itself, so that plans differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownShares {
    /// Kernels before the current one.
    pub ancestors: f64,
    /// The cost of the kernel.
    pub score: f64,
    /// How much of the peak it reaches.
    pub utilization: f64,
    /// What the hardware's counters say.
    pub feedback: f64,
}

impl ShownShares {
    /// Everything is always shown.
    pub const ALL: Self = Self {
        ancestors: 1.0,
        score: 1.0,
        utilization: 1.0,
        feedback: 1.0,
    };
}

/// How models are asked for plans and code.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmProposerSettings {
    /// The most tokens per reply, reasoning included.
    pub max_output_tokens: u32,
    /// Sampling temperature; absent for the model's own.
    pub temperature: Option<f64>,
    /// How hard to think; absent for the model's own.
    pub reasoning: Option<ReasoningEffort>,
    /// The form in which code is asked for.
    pub code_form: CodeForm,
    /// Most worked examples per prompt.
    pub most_examples: usize,
    /// Which replies are held to a JSON schema.
    pub structured_output: StructuredOutput,
    /// How many of the kernels before the current one prompts for plans show.
    pub ancestors: usize,
    /// In which share of the prompts for plans they, the score and the like are shown.
    pub shown: ShownShares,
    /// How many attempts on the kernel and its relatives prompts for plans list.
    pub tried: usize,
    /// Who chooses the sections of the ISA reference.
    pub isa: IsaChoice,
    /// Whether code is asked for directly, without a plan.
    pub direct: bool,
    /// How long to wait when every model is set aside for a while, before the
    /// run stops, resumable.
    pub patience: Duration,
}

impl LlmProposerSettings {
    /// Returns the settings that `autocomp` uses unless told otherwise.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            max_output_tokens: 16_384,
            temperature: None,
            reasoning: None,
            code_form: CodeForm::Whole,
            most_examples: 2,
            structured_output: StructuredOutput::Plans,
            ancestors: 0,
            shown: ShownShares::ALL,
            tried: 8,
            isa: IsaChoice::Symbols,
            direct: false,
            patience: Duration::from_secs(1800),
        }
    }
}

//! Prompts: templates plus data.
//!
//! A template has two blocks: `stable`, the prefix that providers can cache,
//! and `request`. Templates of the target's folder override the built-in ones
//! of the same name; they may extend them and replace single blocks.

use crate::facts::PromptFacts;
use crate::prompt_context::Context;
use crate::proposer::{Ancestor, Tried};
use autocomp_core::{ContentHash, Evaluation, Lesson, MenuItem, Seed};
use autocomp_llm::estimate_tokens;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The built-in templates by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("stable.jinja", include_str!("../templates/stable.jinja")),
    ("kernel.jinja", include_str!("../templates/kernel.jinja")),
    (
        "examples.jinja",
        include_str!("../templates/examples.jinja"),
    ),
    (
        "ancestors.jinja",
        include_str!("../templates/ancestors.jinja"),
    ),
    ("facts.jinja", include_str!("../templates/facts.jinja")),
    (
        "feedback.jinja",
        include_str!("../templates/feedback.jinja"),
    ),
    (
        "diagnostics.jinja",
        include_str!("../templates/diagnostics.jinja"),
    ),
    ("items.jinja", include_str!("../templates/items.jinja")),
    ("lessons.jinja", include_str!("../templates/lessons.jinja")),
    ("tried.jinja", include_str!("../templates/tried.jinja")),
    ("scripts.jinja", include_str!("../templates/scripts.jinja")),
    ("isa.jinja", include_str!("../templates/isa.jinja")),
    (
        "schedule.jinja",
        include_str!("../templates/schedule.jinja"),
    ),
    ("plan.jinja", include_str!("../templates/plan.jinja")),
    (
        "implement.jinja",
        include_str!("../templates/implement.jinja"),
    ),
    (
        "implement_edits.jinja",
        include_str!("../templates/implement_edits.jinja"),
    ),
    ("repair.jinja", include_str!("../templates/repair.jinja")),
    ("combine.jinja", include_str!("../templates/combine.jinja")),
    ("direct.jinja", include_str!("../templates/direct.jinja")),
    ("analyze.jinja", include_str!("../templates/analyze.jinja")),
    (
        "translate.jinja",
        include_str!("../templates/translate.jinja"),
    ),
    ("menu.jinja", include_str!("../templates/menu.jinja")),
    ("version.jinja", include_str!("../templates/version.jinja")),
    ("reask.jinja", include_str!("../templates/reask.jinja")),
];

/// What a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Write a plan.
    Plan,
    /// Write a plan of a whole schedule.
    Schedule,
    /// Write the whole kernel after a plan.
    Implement,
    /// Write edits after a plan.
    ImplementEdits,
    /// Correct a failed draft.
    Repair,
    /// Write one kernel from two.
    Combine,
    /// Improve without a plan.
    Direct,
    /// Say what limits a kernel.
    Analyze,
    /// Write a first kernel from a reference.
    Translate,
    /// Write further menu items.
    Menu,
    /// Choose sections of the ISA reference.
    Isa,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 11] = [
        Self::Plan,
        Self::Schedule,
        Self::Implement,
        Self::ImplementEdits,
        Self::Repair,
        Self::Combine,
        Self::Direct,
        Self::Analyze,
        Self::Translate,
        Self::Menu,
        Self::Isa,
    ];

    /// Returns the name, as in `autocomp prompt --phase`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Schedule => "schedule",
            Self::Implement => "implement",
            Self::ImplementEdits => "implement_edits",
            Self::Repair => "repair",
            Self::Combine => "combine",
            Self::Direct => "direct",
            Self::Analyze => "analyze",
            Self::Translate => "translate",
            Self::Menu => "menu",
            Self::Isa => "isa",
        }
    }

    /// Returns the phase of a name; `edits` is short for `implement_edits`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "edits" {
            return Some(Self::ImplementEdits);
        }
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// What is said of scripts, which a rewriter carries out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScriptFacts {
    /// Their format.
    pub format: String,
    /// Some that apply to the kernel, and what they do in words.
    pub examples: Vec<(String, String)>,
}

/// What a prompt is about, beside the target and the problem.
#[derive(Clone, Debug)]
pub struct PromptInput<'input> {
    /// The kernel to start from.
    pub kernel: &'input str,
    /// Its evaluation.
    pub evaluation: Option<&'input Evaluation>,
    /// The menu after dropout.
    pub menu: &'input [MenuItem],
    /// Steps that a whole schedule may be made of.
    pub steps: Vec<&'input MenuItem>,
    /// The number of this request among those about the same kernel; absent for the first.
    pub version: Option<String>,
    /// The current iteration, from 1.
    pub iteration: u32,
    /// Iterations of the run.
    pub iterations: u32,
    /// The plan to carry out, and its menu item.
    pub plan: Option<(&'input str, &'input str)>,
    /// The number of the plan to carry out among those for the kernel, from 1.
    pub plan_number: u32,
    /// The failed kernel and its evaluation, for a repair.
    pub failed: Option<(&'input str, &'input Evaluation)>,
    /// The second kernel, for a combination.
    pub other: Option<(&'input str, Option<u64>)>,
    /// Kernels on the way to this one, the oldest first; all of them are shown.
    pub ancestors: &'input [Ancestor],
    /// What was tried on the kernel and its relatives; all of it is shown.
    pub tried: &'input [Tried],
    /// What earlier runs have taught; all of it is shown.
    pub lessons: &'input [Lesson],
    /// Whether the kernel's cost is shown.
    pub with_score: bool,
    /// Whether it is shown how much of the peak the kernel reaches.
    pub with_utilization: bool,
    /// Whether hardware feedback is shown.
    pub with_feedback: bool,
    /// Menu items to be written at most.
    pub count: usize,
    /// Titles of the ISA sections to show; absent for those that the kernel's
    /// names ask for.
    pub isa: Option<&'input [String]>,
    /// Whether the reply is held to a JSON schema.
    pub structured: bool,
    /// How to plan in a script, if that is possible.
    pub scripts: Option<&'input ScriptFacts>,
    /// Most worked examples to include.
    pub most_examples: usize,
    /// The task's random stream, which picks examples.
    pub seed: Seed,
}

impl<'input> PromptInput<'input> {
    /// Creates the input of a prompt about one kernel.
    #[must_use]
    pub fn new(kernel: &'input str, evaluation: Option<&'input Evaluation>, seed: Seed) -> Self {
        Self {
            kernel,
            evaluation,
            menu: &[],
            steps: Vec::new(),
            version: None,
            iteration: 1,
            iterations: 1,
            plan: None,
            plan_number: 1,
            failed: None,
            other: None,
            ancestors: &[],
            tried: &[],
            lessons: &[],
            with_score: true,
            with_utilization: true,
            with_feedback: true,
            count: 5,
            isa: None,
            structured: false,
            scripts: None,
            most_examples: 2,
            seed,
        }
    }
}

/// A prompt, rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The stable prefix.
    pub system: String,
    /// The request.
    pub user: String,
}

impl Prompt {
    /// Returns a guess of its tokens.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        estimate_tokens(self.system.len() + self.user.len())
    }

    /// Returns a guess of the tokens of its stable prefix.
    #[must_use]
    pub fn estimated_stable_tokens(&self) -> u64 {
        estimate_tokens(self.system.len())
    }
}

/// A template cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It does not parse.
    #[error("the prompt template {name} is not valid: {reason}")]
    Invalid {
        /// The template.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
    /// No built-in template has this name.
    #[error("{name} is not the name of a prompt template; known are {}", known.join(", "))]
    Unknown {
        /// The template.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// It cannot be rendered.
    #[error("the prompt template {name} cannot be rendered: {reason}")]
    Render {
        /// The template.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
}

/// The templates of a target, ready to be rendered.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// Takes the built-in templates and those that override them, by file name.
    /// An overriding template can extend the built-in one as `built-in/NAME`.
    ///
    /// # Errors
    /// A [`TemplateError`] that names the template and the line.
    pub fn new(overrides: &BTreeMap<String, String>) -> Result<Self, TemplateError> {
        let mut environment = environment().map_err(|error| invalid("syntax", &error))?;
        environment.add_filter("data", delimit);
        environment.add_filter("numbered", numbered);
        environment.add_filter("number", crate::feedback::number);
        for (name, source) in BUILT_IN {
            environment
                .add_template(name, source)
                .map_err(|error| invalid(name, &error))?;
            environment
                .add_template_owned(format!("built-in/{name}"), (*source).to_owned())
                .map_err(|error| invalid(name, &error))?;
        }
        for (name, source) in overrides {
            if BUILT_IN.iter().all(|(known, _)| known != name) {
                return Err(TemplateError::Unknown {
                    name: name.clone(),
                    known: BUILT_IN
                        .iter()
                        .map(|(known, _)| (*known).to_owned())
                        .collect(),
                });
            }
            environment
                .add_template_owned(name.clone(), source.clone())
                .map_err(|error| invalid(name, &error))?;
        }
        Ok(Self { environment })
    }

    /// Renders the prompt of a phase.
    ///
    /// # Errors
    /// [`TemplateError::Render`] if the template uses a name that does not exist.
    pub fn render(
        &self,
        phase: Phase,
        facts: &PromptFacts,
        input: &PromptInput<'_>,
    ) -> Result<Prompt, TemplateError> {
        let name = format!("{}.jinja", phase.name());
        let context = Context::new(phase, facts, input);
        let error = |error: minijinja::Error| TemplateError::Render {
            name: name.clone(),
            reason: explain(&error),
        };
        let template = self.environment.get_template(&name).map_err(error)?;
        let mut captured = template.render_captured(Serde(&context)).map_err(error)?;
        let mut block = |block: &str| captured.with_state_mut(|state| state.render_block(block));
        let system = tidy(&block("stable").map_err(error)?);
        let user = tidy(&block("request").map_err(error)?);
        Ok(Prompt { system, user })
    }

    /// Renders the request to repeat a reply that cannot be used.
    ///
    /// # Errors
    /// [`TemplateError::Render`] if the template uses a name that does not exist.
    pub fn reask(&self, complaint: &str) -> Result<String, TemplateError> {
        let name = "reask.jinja";
        let error = |error: minijinja::Error| TemplateError::Render {
            name: name.to_owned(),
            reason: explain(&error),
        };
        let template = self.environment.get_template(name).map_err(error)?;
        let text = template
            .render(minijinja::context!(complaint))
            .map_err(error)?;
        Ok(tidy(&text))
    }
}

/// Returns what renders prompts: plain text, in which names that are not given are errors and
/// lines of blocks leave no trace.
///
/// # Errors
/// Never: the usual marks of blocks do not contradict each other.
pub fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = minijinja::syntax::SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    Ok(environment)
}

fn invalid(name: &str, error: &minijinja::Error) -> TemplateError {
    TemplateError::Invalid {
        name: name.to_owned(),
        reason: explain(error),
    }
}

/// Returns an error of the template engine with its causes, in one line.
fn explain(error: &minijinja::Error) -> String {
    use std::error::Error as _;
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Collapses runs of blank lines and trims both ends.
///
/// Data is left alone: blank lines inside it are collapsed by nobody, as its
/// lines are skipped over.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut blank_lines = 0;
    let mut data_end: Option<String> = None;
    for line in text.lines() {
        if let Some(end) = &data_end {
            if line == end {
                data_end = None;
            }
        } else if let Some(id) = line
            .strip_prefix("<data kind=")
            .and_then(|rest| rest.split("id=").nth(1))
        {
            data_end = Some(format!("</data id={id}"));
        } else if line.trim().is_empty() {
            blank_lines += 1;
            if 1 < blank_lines {
                continue;
            }
        }
        if !line.trim().is_empty() {
            blank_lines = 0;
        }
        tidied.push_str(line);
        tidied.push('\n');
    }
    tidied.trim().to_owned()
}

/// Puts the number of each line and a bar before it.
fn numbered(code: &str) -> String {
    let code = code.trim_end_matches('\n');
    let width = code.lines().count().to_string().len();
    let mut text = String::with_capacity(code.len() * 5 / 4);
    for (idx, line) in code.lines().enumerate() {
        let _ = writeln!(text, "{:>width$} | {line}", idx + 1);
    }
    text
}

/// Encloses material in lines that name its kind and carry an identifier
/// derived from it, which text inside the material cannot forge: it would have
/// to contain its own hash.
fn delimit(material: &str, kind: &str) -> String {
    let mut hashed = String::with_capacity(material.len() + kind.len() + 1);
    let _ = write!(hashed, "{kind}\n{material}");
    let id = ContentHash::of(hashed.as_bytes()).short();
    format!(
        "<data kind=\"{kind}\" id=\"{id}\">\n{}\n</data id=\"{id}\">",
        material.trim_end_matches('\n')
    )
}

//! What prompts say about a target and a problem, as plain data. The words
//! stand in templates.

use autocomp_catalog::{Buffer, Constant, Identifiers, Problem, Role, Target, Tolerance};
use autocomp_core::{Language, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// A section of the ISA reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IsaFacts {
    /// The heading.
    pub title: String,
    /// Names in kernels that the section explains; empty if it concerns every kernel.
    pub symbols: Vec<String>,
    /// Whether all prompts about the problem show it, whatever their kernel: it concerns every
    /// kernel, or an item of the menu or the problem's first kernel needs it.
    pub is_common: bool,
    /// The text.
    pub text: String,
}

/// A worked example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExampleFacts {
    /// The menu item that it shows.
    pub menu_item: String,
    /// What changes and why it pays.
    pub text: String,
    /// Code before.
    pub before: String,
    /// Code after.
    pub after: String,
}

/// A buffer of the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferFacts {
    /// Its name.
    pub name: String,
    /// Extents, the outermost first.
    pub shape: Vec<u64>,
    /// Type of its elements.
    pub dtype: String,
    /// Bytes to which it is aligned.
    pub alignment: u64,
    /// `input`, `output` or `inout`.
    pub role: String,
    /// Whether its elements are floating-point numbers.
    pub is_float: bool,
}

/// How far outputs may be off; absent if they must be exact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToleranceFacts {
    /// Share of the reference's magnitude.
    pub relative: f64,
    /// Absolute.
    pub absolute: f64,
}

/// What has to be done, and what the machine can do in a unit of cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkFacts {
    /// Multiply-accumulate steps.
    pub macs: u64,
    /// Bytes that must be moved.
    pub bytes: u64,
    /// What the machine can do; absent if that is not known.
    pub peak: Option<PeakFacts>,
}

/// What the machine can do at most in a unit of time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakFacts {
    /// Multiply-accumulate steps.
    pub macs: f64,
    /// Bytes, loads and stores together.
    pub bytes: f64,
    /// The unit (`cycle`).
    pub per: &'static str,
}

/// What prompts say about a target and a problem.
#[derive(Clone, Debug)]
pub struct PromptFacts {
    /// Name of the target.
    pub target: String,
    /// What the target is, in a sentence.
    pub target_description: String,
    /// Language of kernels.
    pub syntax: &'static dyn Language,
    /// What kernels cost.
    pub unit: Unit,
    /// The language's name as people write it (`C`).
    pub language: String,
    /// What a kernel writer must know, Markdown.
    pub architecture: String,
    /// The ISA reference.
    pub isa: Vec<IsaFacts>,
    /// Names of numbers, with their values.
    pub constants: Vec<Constant>,
    /// What counters mean, by name or by its beginning and `*`; others are not shown.
    pub counters: BTreeMap<String, String>,
    /// Rules for plans and code.
    pub general_rules: Vec<String>,
    /// Rules for plans.
    pub plan_rules: Vec<String>,
    /// Rules for plans of a whole schedule.
    pub schedule_rules: Vec<String>,
    /// Rules for code.
    pub code_rules: Vec<String>,
    /// Worked examples.
    pub examples: Vec<ExampleFacts>,
    /// Name of the problem.
    pub problem: String,
    /// What it computes, in a sentence.
    pub problem_description: String,
    /// Its buffers, in the order of the signature.
    pub buffers: Vec<BufferFacts>,
    /// How far outputs may be off; absent if they must be exact.
    pub tolerance: Option<ToleranceFacts>,
    /// What has to be done; absent if that is not known.
    pub work: Option<WorkFacts>,
    /// The function that a kernel defines.
    pub entry: String,
    /// Its signature, without a brace.
    pub signature: String,
}

impl PromptFacts {
    /// Returns what prompts say about `problem` on `target`, whose kernels are written in
    /// the language `syntax` and cost `unit`. Where a text of the target has `{{ name }}`, the
    /// figure of that name stands in the prompt.
    #[must_use]
    pub fn of(
        target: &Target,
        problem: &Problem,
        (syntax, unit): (&'static dyn Language, Unit),
        figures: &BTreeMap<String, String>,
    ) -> Self {
        let fill = |text: &String| filled(text, figures);
        let fill_all = |texts: &[String]| texts.iter().map(fill).collect::<Vec<_>>();
        let menu = target.menu_for(problem);
        let offers = |id: &String| menu.iter().any(|item| &item.id == id);
        let first = problem.kernel("baseline").unwrap_or_default();
        let words = menu.iter().map(|item| item.text.as_str());
        let needed = words.chain([first]).collect::<Vec<_>>().join("\n");
        let needed = Identifiers::of(&needed);
        let isa = target.isa.iter().map(|section| IsaFacts {
            title: section.title.clone(),
            symbols: section.symbols.clone(),
            is_common: section.items.iter().any(&offers) || needed.need(&section.symbols),
            text: fill(&section.text),
        });
        let examples = target.examples_for(problem);
        let examples = examples.filter(|example| offers(&example.menu_item));
        let examples = examples.map(|example| ExampleFacts {
            menu_item: example.menu_item.clone(),
            text: example.text.clone(),
            before: example.before.clone(),
            after: example.after.clone(),
        });
        Self {
            target: target.name.clone(),
            target_description: fill(&target.description),
            language: syntax.name().to_owned(),
            syntax,
            unit,
            architecture: fill(&target.architecture),
            isa: isa.collect(),
            constants: target.constants.clone(),
            counters: target.counters.clone(),
            general_rules: fill_all(&target.rules.general),
            plan_rules: fill_all(&target.rules.plan),
            schedule_rules: fill_all(&target.rules.schedule),
            code_rules: fill_all(&target.rules.code),
            examples: examples.collect(),
            problem: problem.name.clone(),
            problem_description: described(problem),
            buffers: problem.buffers.iter().map(buffer_facts).collect(),
            tolerance: match problem.tolerance {
                Tolerance::Exact {} => None,
                Tolerance::Close { relative, absolute } => {
                    Some(ToleranceFacts { relative, absolute })
                }
            },
            work: Some(WorkFacts {
                macs: problem.work.macs,
                bytes: problem.work.bytes,
                peak: target.roofline.map(|roofline| PeakFacts {
                    macs: roofline.peak_macs,
                    bytes: roofline.bytes,
                    per: roofline.unit.singular(),
                }),
            }),
            entry: problem.entry.clone(),
            signature: problem.signature.clone(),
        }
    }

    /// Returns whether any buffer holds floating-point numbers.
    #[must_use]
    pub fn is_float(&self) -> bool {
        self.buffers.iter().any(|buffer| buffer.is_float)
    }

    /// Returns the sections of the ISA reference that a kernel with this source
    /// needs: those that explain a name in it, and those for all.
    #[must_use]
    pub fn isa_for(&self, source: &str) -> Vec<&IsaFacts> {
        let names = Identifiers::of(source);
        self.isa
            .iter()
            .filter(|section| names.need(&section.symbols))
            .collect()
    }
}

/// What a problem computes, and what its kernels get beside buffers.
fn described(problem: &Problem) -> String {
    let mut text = problem.description.clone();
    if problem.arguments.is_empty() {
        return text;
    }
    let all = problem.arguments.iter();
    let all: Vec<String> = all
        .map(|(name, value)| format!("`{name}` = {value}"))
        .collect();
    let end = text.trim_end().trim_end_matches('.').len();
    text.truncate(end);
    text.push_str(". Kernels get by name, beside the buffers: ");
    text.push_str(&all.join(", "));
    text
}

/// Returns `text` with figures in the places that name them, as `{{ name }}`.
fn filled(text: &str, figures: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    for (name, value) in figures {
        text = text.replace(&format!("{{{{ {name} }}}}"), value);
    }
    text
}

fn buffer_facts(buffer: &Buffer) -> BufferFacts {
    let dtype = buffer.dtype.name().to_owned();
    let role = match buffer.role {
        Role::Input => "input",
        Role::Output => "output",
        Role::Inout => "inout",
    };
    BufferFacts {
        name: buffer.name.clone(),
        shape: buffer.shape.clone(),
        is_float: dtype.starts_with("float"),
        dtype,
        alignment: buffer.alignment,
        role: role.to_owned(),
    }
}

//! What prompts say about a target and a problem, as plain data.

use autocomp_catalog::{Buffer, Problem, Role, Target, Tolerance};
use autocomp_core::{Language, Unit};
use serde::Serialize;

/// A section of the ISA reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IsaFacts {
    /// The heading.
    pub title: String,
    /// Names in kernels that the section explains; empty if it concerns every kernel.
    pub symbols: Vec<String>,
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
    /// Rules for plans and code.
    pub general_rules: Vec<String>,
    /// Rules for plans.
    pub plan_rules: Vec<String>,
    /// Rules for code.
    pub code_rules: Vec<String>,
    /// Worked examples.
    pub examples: Vec<ExampleFacts>,
    /// Name of the problem.
    pub problem: String,
    /// What it computes, in a sentence.
    pub problem_description: String,
    /// Further facts, one line each (buffers, tolerance).
    pub problem_facts: Vec<String>,
    /// The function that a kernel defines.
    pub entry: String,
    /// Its signature, without a brace.
    pub signature: String,
}

impl PromptFacts {
    /// Returns what prompts say about `problem` on `target`, whose kernels are written in
    /// the language `syntax` and cost `unit`.
    #[must_use]
    pub fn of(
        target: &Target,
        problem: &Problem,
        syntax: &'static dyn Language,
        unit: Unit,
    ) -> Self {
        let isa = target.isa.iter().map(|section| IsaFacts {
            title: section.title.clone(),
            symbols: section.symbols.clone(),
            text: section.text.clone(),
        });
        let examples = target.examples.iter().map(|example| ExampleFacts {
            menu_item: example.menu_item.clone(),
            text: example.text.clone(),
            before: example.before.clone(),
            after: example.after.clone(),
        });
        let mut problem_facts: Vec<String> = problem.buffers.iter().map(describe_buffer).collect();
        problem_facts.push(match problem.tolerance {
            Tolerance::Exact {} => "Outputs are compared exactly.".to_owned(),
            Tolerance::Close { relative, absolute } => format!(
                "Outputs may differ from the reference by {relative} of its magnitude or by {absolute}."
            ),
        });
        let mut work = format!(
            "Work: {} multiply-accumulate steps and at least {} bytes moved",
            problem.work.macs, problem.work.bytes,
        );
        if let Some(roofline) = target.roofline {
            let unit = roofline.unit.singular();
            work += &format!(
                "; the target does at most {} steps and moves at most {} bytes, loads and stores together, per {unit}",
                roofline.peak_macs, roofline.bytes,
            );
        }
        problem_facts.push(work + ".");
        Self {
            target: target.name.clone(),
            target_description: target.description.clone(),
            language: syntax.name().to_owned(),
            syntax,
            unit,
            architecture: target.architecture.clone(),
            isa: isa.collect(),
            general_rules: target.rules.general.clone(),
            plan_rules: target.rules.plan.clone(),
            code_rules: target.rules.code.clone(),
            examples: examples.collect(),
            problem: problem.name.clone(),
            problem_description: problem.description.clone(),
            problem_facts,
            entry: problem.entry.clone(),
            signature: problem.signature.clone(),
        }
    }

    /// Returns the sections of the ISA reference that a kernel with this source
    /// needs: those that explain a name in it, and those for all.
    #[must_use]
    pub fn isa_for(&self, source: &str) -> Vec<&IsaFacts> {
        let names: std::collections::BTreeSet<&str> = source
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .collect();
        self.isa
            .iter()
            .filter(|section| {
                section.symbols.is_empty()
                    || section
                        .symbols
                        .iter()
                        .any(|symbol| names.contains(symbol.as_str()))
            })
            .collect()
    }
}

fn describe_buffer(buffer: &Buffer) -> String {
    let shape: Vec<String> = buffer
        .shape
        .iter()
        .map(|extent| format!("[{extent}]"))
        .collect();
    let role = match buffer.role {
        Role::Input => "input, must not be changed",
        Role::Output => "output, undefined on entry",
        Role::Inout => "read and written",
    };
    format!(
        "`{}{}` {}, row-major, aligned to {} bytes: {role}.",
        buffer.name,
        shape.concat(),
        buffer.dtype.name(),
        buffer.alignment
    )
}

//! What templates of prompts can show.

use crate::attempts::TriedFacts;
use crate::facts::{BufferFacts, ExampleFacts, IsaFacts, PromptFacts, ToleranceFacts, WorkFacts};
use crate::feedback::{DiagnosticFacts, FeedbackFacts};
use crate::prompt::{Phase, PromptInput, ScriptFacts};
use crate::proposer::Ancestor;
use autocomp_catalog::Constant;
use autocomp_core::{Lesson, MenuItem, Outcome, Scope, Unit};
use serde::Serialize;

/// The variables of the templates.
#[derive(Serialize)]
pub(crate) struct Context<'input> {
    target: &'input str,
    target_description: &'input str,
    language: &'input str,
    architecture: &'input str,
    /// Sections that all prompts about the problem show, and those that this one shows besides.
    common_isa: Vec<&'input IsaFacts>,
    further_isa: Vec<&'input IsaFacts>,
    constants: &'input [Constant],
    sections: &'input [IsaFacts],
    ancestors: &'input [Ancestor],
    tried: Vec<TriedFacts<'input>>,
    lessons: Vec<LessonFacts<'input>>,
    /// Whether the menu's items translate the kernel.
    translating: bool,
    structured: bool,
    general_rules: &'input [String],
    plan_rules: &'input [String],
    schedule_rules: &'input [String],
    code_rules: &'input [String],
    examples: Vec<&'input ExampleFacts>,
    problem: &'input str,
    problem_description: &'input str,
    buffers: &'input [BufferFacts],
    is_float: bool,
    tolerance: Option<&'input ToleranceFacts>,
    work: Option<&'input WorkFacts>,
    entry: &'input str,
    signature: &'input str,
    kernel: &'input str,
    unit: Unit,
    measurement: Option<Measured>,
    feedback: Option<FeedbackFacts>,
    menu: &'input [MenuItem],
    steps: Vec<&'input MenuItem>,
    version: Option<String>,
    iteration: u32,
    iterations: u32,
    plan: &'input str,
    plan_number: u32,
    failed_kernel: &'input str,
    outcome: &'input str,
    diagnostics: DiagnosticFacts,
    other_kernel: &'input str,
    other_cost: Option<u64>,
    count: usize,
    scripts: Option<&'input ScriptFacts>,
}

/// What was measured of the kernel, in the unit of costs.
#[derive(Serialize)]
struct Measured {
    cost: Option<u64>,
    floor: u64,
    percent_of_peak: Option<f64>,
    /// How much of the problem's work the target does.
    translated_percent: f64,
}

/// A lesson, with its factor in two digits.
#[derive(Serialize)]
struct LessonFacts<'input> {
    problem: &'input str,
    menu_item: &'input str,
    plan: &'input str,
    finding: &'input str,
    attempts: u32,
    ending: Option<&'static str>,
    times: Option<String>,
}

impl<'input> LessonFacts<'input> {
    fn of(lesson: &'input Lesson) -> Self {
        Self {
            problem: &lesson.problem,
            menu_item: &lesson.menu_item,
            plan: &lesson.plan,
            finding: &lesson.finding,
            attempts: lesson.attempts,
            ending: lesson.outcome.map(Outcome::name),
            times: lesson.factor.map(|factor| format!("{factor:.2}")),
        }
    }
}

impl<'input> Context<'input> {
    pub(crate) fn new(
        phase: Phase,
        facts: &'input PromptFacts,
        input: &PromptInput<'input>,
    ) -> Self {
        let feedback = input
            .evaluation
            .and_then(|evaluation| evaluation.feedback.as_ref());
        let failed = input.failed;
        let sections = isa_sections(phase, facts, input);
        let (common_isa, further_isa) = sections.into_iter().partition(|it| it.is_common);
        Self {
            target: &facts.target,
            target_description: &facts.target_description,
            language: &facts.language,
            architecture: facts.architecture.trim(),
            common_isa,
            further_isa,
            constants: &facts.constants,
            sections: &facts.isa,
            ancestors: input.ancestors,
            tried: input.tried.iter().map(TriedFacts::of).collect(),
            lessons: input.lessons.iter().map(LessonFacts::of).collect(),
            translating: (input.menu.iter()).any(|item| item.scope == Scope::Translation),
            structured: input.structured,
            general_rules: &facts.general_rules,
            plan_rules: &facts.plan_rules,
            schedule_rules: &facts.schedule_rules,
            code_rules: &facts.code_rules,
            examples: examples(facts, input),
            problem: &facts.problem,
            problem_description: &facts.problem_description,
            buffers: &facts.buffers,
            is_float: facts.is_float(),
            tolerance: facts.tolerance.as_ref(),
            work: facts.work.as_ref(),
            entry: &facts.entry,
            signature: &facts.signature,
            kernel: input.kernel,
            unit: facts.unit,
            measurement: input
                .evaluation
                .and_then(|evaluation| Some((evaluation, evaluation.measurement.as_ref()?)))
                .map(|(evaluation, measurement)| Measured {
                    cost: input.with_score.then_some(measurement.cost.value),
                    floor: measurement.floor.value,
                    percent_of_peak: input
                        .with_utilization
                        .then_some(measurement.percent_of_peak),
                    translated_percent: evaluation.translated_percent(),
                }),
            feedback: feedback
                .filter(|_| input.with_feedback)
                .and_then(|feedback| FeedbackFacts::of(feedback, facts, input)),
            menu: input.menu,
            steps: input.steps.clone(),
            version: input.version.clone(),
            iteration: input.iteration,
            iterations: input.iterations,
            plan: input.plan.map_or("", |(_, text)| text),
            plan_number: input.plan_number,
            failed_kernel: failed.map_or("", |(kernel, _)| kernel),
            outcome: failed
                .map_or(Outcome::Wrong, |(_, evaluation)| evaluation.outcome)
                .name(),
            diagnostics: failed
                .map(|(_, evaluation)| DiagnosticFacts::of(&evaluation.diagnostics))
                .unwrap_or_default(),
            other_kernel: input.other.map_or("", |(kernel, _)| kernel),
            other_cost: input.other.and_then(|(_, cost)| cost),
            count: input.count,
            scripts: input.scripts,
        }
    }
}

/// Picks sections of the ISA reference: those for every kernel, the chosen ones,
/// and those that explain a name in anything else that the prompt shows (a plan,
/// a draft that failed, a second kernel); without a choice, also those that
/// explain a name in the kernel, and those that all prompts about the problem show.
/// A reference program names nothing of the target, so its translator gets all.
fn isa_sections<'facts>(
    phase: Phase,
    facts: &'facts PromptFacts,
    input: &PromptInput<'_>,
) -> Vec<&'facts IsaFacts> {
    if phase == Phase::Translate {
        return facts.isa.iter().collect();
    }
    let mut shown: Vec<&str> = Vec::new();
    shown.extend(input.plan.map(|(_, text)| text));
    shown.extend(input.failed.map(|(kernel, _)| kernel));
    shown.extend(input.other.map(|(kernel, _)| kernel));
    if input.isa.is_none() {
        shown.push(input.kernel);
    }
    let explained = facts.isa_for(&shown.join("\n"));
    let is_chosen = |section: &&IsaFacts| {
        input
            .isa
            .is_some_and(|titles| titles.contains(&section.title))
    };
    facts
        .isa
        .iter()
        .filter(|section| {
            let is_common = section.is_common && input.isa.is_none();
            is_common || is_chosen(section) || explained.contains(section)
        })
        .collect()
}

/// Picks worked examples: all of the plan's menu item; without a plan, each one
/// of an offered item with even odds from the task's seed.
fn examples<'facts>(
    facts: &'facts PromptFacts,
    input: &PromptInput<'_>,
) -> Vec<&'facts ExampleFacts> {
    let mut stream = input.seed.derive("examples");
    let mut picked: Vec<_> = facts
        .examples
        .iter()
        .filter(|example| match input.plan {
            Some((item, _)) => example.menu_item == item,
            None => {
                // Drawn for every example, so that each one's odds are its own.
                let included = stream.next_u64() & 1 == 1;
                included && input.menu.iter().any(|item| item.id == example.menu_item)
            }
        })
        .collect();
    while input.most_examples < picked.len() {
        let idx = stream.below(picked.len());
        picked.remove(idx);
    }
    picked
}

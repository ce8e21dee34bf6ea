//! What models are told of the built-in targets and problems, of all families.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::FAMILIES;
use autocomp_agents::{Phase, Prompt, PromptFacts, PromptInput, Templates};
use autocomp_catalog::{Catalog, Identifiers, IsaSection, Problem, Target};
use autocomp_core::{
    ContentHash, Cost, Diagnostic, Evaluation, Feedback, Measurement, MenuItem, Outcome, Scope,
    Seed, Severity, Stage,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Figures of all targets, by name.
static FIGURES: LazyLock<BTreeMap<String, BTreeMap<String, String>>> = LazyLock::new(|| {
    let catalog = Catalog::built_in().unwrap();
    let targets = catalog
        .target_names()
        .map(|name| catalog.target(name).unwrap());
    let figures = targets.map(|target| {
        let family = FAMILIES
            .iter()
            .find(|it| it.name() == target.family)
            .unwrap();
        let figures = family.figures(&target, &target.default_machine).unwrap();
        (target.name, figures)
    });
    figures.collect()
});

/// Everything that prompts about a problem on a target are made of.
struct Told {
    target: Target,
    problem: Problem,
    facts: PromptFacts,
    templates: Templates,
    menu: Vec<MenuItem>,
}

impl Told {
    fn of(catalog: &Catalog, problem: &str, target: &str) -> Self {
        let problem = catalog.problem(problem).unwrap();
        let target = catalog.target(target).unwrap();
        let family = FAMILIES.iter().find(|it| it.name() == target.family);
        let family = family.unwrap();
        let mut languages = family.languages().iter();
        let language = languages.find(|it| it.id() == target.language).unwrap();
        let figures = &FIGURES[&target.name];
        let syntax = (
            *language,
            family.unit(&target, &target.default_machine).unwrap(),
        );
        Self {
            facts: PromptFacts::of(&target, &problem, syntax, figures),
            templates: Templates::new(&target.templates).unwrap(),
            menu: target.menu_for(&problem),
            target,
            problem,
        }
    }

    fn steps(&self) -> Vec<MenuItem> {
        let steps = self.menu.iter().filter(|item| item.scope == Scope::Step);
        steps.cloned().collect()
    }

    fn render(&self, phase: Phase, input: &PromptInput<'_>) -> Prompt {
        self.templates.render(phase, &self.facts, input).unwrap()
    }
}

/// Returns all problems with each of their targets.
fn all() -> (Catalog, Vec<(String, String)>) {
    let catalog = Catalog::built_in().unwrap();
    let names: Vec<String> = catalog.problem_names().map(str::to_owned).collect();
    let mut pairs = Vec::new();
    for name in names {
        for target in catalog.problem(&name).unwrap().targets {
            pairs.push((name.clone(), target));
        }
    }
    (catalog, pairs)
}

/// Returns the names in a kernel that belong to the target rather than to the language.
fn interfaces(target: &Target, kernel: &str) -> BTreeSet<String> {
    let c_begins = [
        "_mm",
        "__mm",
        "__builtin",
        "_tile",
        "gemmini_",
        "tiled_",
        "__riscv_",
    ];
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    if target.language == "c" {
        // Commands are macros of the runtime's header.
        let header = target.runtime.get("gemmini.h");
        let header = header.map_or("", |data| std::str::from_utf8(data).unwrap());
        let defined: BTreeSet<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("#define "))
            .filter_map(|rest| rest.split(['(', ' ']).next())
            .collect();
        let is_interface = |word: &String| {
            c_begins.iter().any(|begin| word.starts_with(begin)) || defined.contains(word.as_str())
        };
        return words(kernel).into_iter().filter(is_interface).collect();
    }
    let mut found = BTreeSet::new();
    for module in ["nl", "nisa"] {
        for rest in kernel.split(&format!("{module}.")).skip(1) {
            found.extend(words(rest).into_iter().next());
        }
    }
    for method in [
        "reshape",
        "broadcast_to",
        "permute",
        "ap",
        "view",
        "expand_dim",
    ] {
        if kernel.contains(&format!(".{method}(")) {
            found.insert(method.to_owned());
        }
    }
    for argument in [
        "engine",
        "mask",
        "is_stationary_onezero",
        "is_moving_onezero",
    ] {
        if kernel.contains(&format!("{argument}=")) {
            found.insert(argument.to_owned());
        }
    }
    found
}

/// Each interface that a kernel uses stands in the prompts about it, and each section that an
/// item of the menu needs.
#[test]
fn prompts_explain_every_interface_that_kernels_use() {
    let mut n_interfaces = 0;
    let (catalog, pairs) = all();
    for (name, target) in pairs {
        let told = Told::of(&catalog, &name, &target);
        let steps = told.steps();
        for (kernel_name, kernel) in &told.problem.kernels {
            let input = PromptInput {
                menu: &steps,
                ..PromptInput::new(kernel, None, Seed(1))
            };
            let prompt = told.render(Phase::Plan, &input);
            let is_told = |section: &&IsaSection| {
                let title = format!("\n## {}\n", section.title);
                prompt.system.contains(&title)
            };
            let sections: Vec<_> = told.target.isa.iter().filter(is_told).collect();
            let text = Identifiers::of(&prompt.system);
            for interface in interfaces(&told.target, kernel) {
                let own = Identifiers::of(&interface);
                let explains = |it: &&IsaSection| !it.symbols.is_empty() && own.need(&it.symbols);
                assert!(
                    text.need(std::slice::from_ref(&interface)) || sections.iter().any(explains),
                    "{name} on {target}, kernel {kernel_name}: `{interface}` is not explained"
                );
                n_interfaces += 1;
            }
            for section in &told.target.isa {
                let is_needed = |id: &String| steps.iter().any(|item| &item.id == id);
                let title = format!("\n## {}\n", section.title);
                assert!(
                    prompt.system.contains(&title) || !section.items.iter().any(is_needed),
                    "{name} on {target}: {title}"
                );
            }
        }
    }
    assert!(1_000 < n_interfaces, "{n_interfaces} interfaces");
}

/// Items that sections name are items of the target, or of one that it inherits from.
#[test]
fn sections_name_items_that_there_are() {
    let catalog = Catalog::built_in().unwrap();
    let targets: Vec<Target> = catalog
        .target_names()
        .map(|name| catalog.target(name).unwrap())
        .collect();
    for target in &targets {
        let relatives = targets.iter().filter(|it| it.family == target.family);
        let items: BTreeSet<&String> = relatives
            .flat_map(|it| it.menu.iter().map(|item| &item.id))
            .collect();
        for section in &target.isa {
            for item in &section.items {
                assert!(items.contains(item), "{}: {item}", target.name);
            }
        }
    }
}

/// An evaluation with every part that prompts show.
fn evaluation(told: &Told) -> Evaluation {
    let unit = told.facts.unit;
    let cost = |value| Cost {
        value,
        unit,
        spread_ppm: 0,
    };
    Evaluation {
        key: ContentHash::of(b"kernel"),
        outcome: Outcome::Ok,
        diagnostics: Vec::new(),
        measurement: Some(Measurement {
            cost: cost(40_000),
            figures: BTreeMap::new(),
            samples: Vec::new(),
            ratio_to_baseline: None,
            floor: cost(10_000),
            percent_of_peak: 25.0,
            engine: "engine".to_owned(),
            compiler: "compiler".to_owned(),
        }),
        feedback: Some(Feedback {
            bottleneck: "What limits the kernel stands here.".to_owned(),
            counters: BTreeMap::new(),
            lines: Vec::new(),
        }),
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}

fn failure(told: &Told) -> Evaluation {
    Evaluation {
        outcome: Outcome::Wrong,
        diagnostics: vec![Diagnostic {
            severity: Severity::Error,
            stage: Stage::Test,
            code: "output-differs".to_owned(),
            message: "the first element differs".to_owned(),
            location: None,
            notes: Vec::new(),
            remedy: None,
        }],
        measurement: None,
        feedback: None,
        ..evaluation(told)
    }
}

/// Returns the prompt of a phase about the baseline of a problem.
fn prompt(told: &Told, phase: Phase) -> Prompt {
    let (right, wrong) = (evaluation(told), failure(told));
    let is_schedule = |item: &&MenuItem| item.scope == Scope::Schedule;
    let steps = told.steps();
    let whole: Vec<MenuItem> = told.menu.iter().filter(is_schedule).cloned().collect();
    let kernel = match phase {
        Phase::Translate => &told.problem.reference,
        _ => &told.problem.kernels["baseline"],
    };
    let is_schedule = phase == Phase::Schedule;
    let plan = ("other", "The plan stands here.");
    let input = PromptInput {
        menu: if is_schedule { &whole } else { &steps },
        steps: if is_schedule {
            steps.iter().step_by(2).collect()
        } else {
            Vec::new()
        },
        iterations: 8,
        plan: (phase != Phase::Plan).then_some(plan),
        failed: Some((kernel, &wrong)),
        other: Some((kernel, Some(50_000))),
        ..PromptInput::new(
            kernel,
            (phase != Phase::Translate).then_some(&right),
            Seed(1),
        )
    };
    told.render(phase, &input)
}

/// One problem of each family, and of each dialect where there are two.
const SHOWN: &[(&str, &str, &str)] = &[
    ("gemmini", "gemmini/gemm-512x512x512", "gemmini-int8-16"),
    (
        "gemmini-float",
        "gemmini/tinympc-forward-5",
        "gemmini-fp32-4",
    ),
    ("host", "host/softmax-f32-500x333", "host-x86-64-avx512"),
    ("nki-1", "trainium/rope", "trainium-trn1"),
    ("nki-2", "trainium/layernorm-v2", "trainium-trn2"),
    ("rvv", "rvv/softmax-f32-20x333", "rvv-k230"),
];

/// What is the same in all phases stands in one snapshot, each request in one of its own, so
/// that a changed word shows once. Measured figures of the simulator are left out.
#[test]
fn prompts_of_each_family_and_phase() {
    let catalog = Catalog::built_in().unwrap();
    let mut tokens = String::new();
    for (label, problem, target) in SHOWN {
        let told = Told::of(&catalog, problem, target);
        let mut requests = String::new();
        let system = prompt(&told, Phase::Plan).system;
        for phase in Phase::ALL {
            if phase == Phase::Schedule && !told.menu.iter().any(|it| it.scope == Scope::Schedule) {
                continue;
            }
            let prompt = prompt(&told, phase);
            tokens += &format!(
                "{label} {}: {} tokens, {} of them before the kernel\n",
                phase.name(),
                prompt.estimated_tokens(),
                prompt.estimated_stable_tokens()
            );
            // The kernel is the problem's own: its first line shows where it stands.
            let kernel = prompt.user.clone();
            requests += &format!(
                "######## {}\n\n{}\n\n",
                phase.name(),
                without_kernels(&kernel)
            );
            assert!(
                prompt.system == system
                    || matches!(phase, Phase::Isa | Phase::Translate | Phase::Combine),
                "{label}: {} has another prefix",
                phase.name()
            );
        }
        insta::assert_snapshot!(format!("prompt_{label}"), without_figures(&system));
        insta::assert_snapshot!(format!("requests_{label}"), requests);
    }
    insta::assert_snapshot!("tokens", tokens);
}

/// Leaves out the lines of kernels but the first.
fn without_kernels(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines() {
        let is_numbered = line
            .trim_start()
            .split_once(" |")
            .is_some_and(|(number, _)| {
                !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
            });
        if line.starts_with("<data kind=\"reference\"") {
            inside = true;
        }
        let is_first = line.trim_start().starts_with("1 |");
        if (is_numbered && !is_first) || (inside && !line.starts_with('<')) {
            continue;
        }
        inside = inside && !line.starts_with("</data");
        kept += line.split(" id=\"").next().unwrap_or_default();
        kept.push('\n');
    }
    kept
}

/// Replaces numbers in tables of measured costs.
fn without_figures(text: &str) -> String {
    let is_measured = |line: &str| line.starts_with('|') && line.ends_with(" |");
    let lines = text.lines().map(|line| {
        if !is_measured(line) || !line.contains(|c: char| c.is_ascii_digit()) {
            return line.to_owned();
        }
        let cells = line.split('|').map(|cell| {
            let bare = cell.trim().trim_end_matches(" ns");
            match bare.parse::<f64>() {
                Ok(_) => " N ".to_owned(),
                Err(_) => cell.to_owned(),
            }
        });
        cells.collect::<Vec<_>>().join("|")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whoever is asked for code is not told to leave it out, whoever is asked for a plan not to
/// write it, and no prompt names a file that models never see or a figure without a value.
#[test]
fn prompts_do_not_contradict_themselves() {
    let (catalog, pairs) = all();
    for (name, target) in pairs {
        let told = Told::of(&catalog, &name, &target);
        let is_float = told.facts.is_float();
        for phase in Phase::ALL {
            let prompt = prompt(&told, phase);
            let text = format!("{}\n{}", prompt.system, prompt.user);
            let place = format!("{name} on {target}, {}", phase.name());
            let asks_code = matches!(
                phase,
                Phase::Direct
                    | Phase::Implement
                    | Phase::Repair
                    | Phase::Combine
                    | Phase::Translate
            );
            let asks_plan = matches!(phase, Phase::Plan | Phase::Schedule);
            assert!(
                !asks_code || !text.contains("Do not write the whole kernel"),
                "{place}"
            );
            assert!(
                !asks_plan || !text.contains("Write the whole file"),
                "{place}"
            );
            assert!(!text.contains("{{"), "{place}: {text}");
            let outside = without_data(&text);
            for word in outside.split(|c: char| c.is_whitespace() || "`(),;".contains(c)) {
                let is_file = [".md", ".toml", ".h", ".py", ".jinja"]
                    .iter()
                    .any(|end| word.ends_with(end));
                assert!(!is_file || word.starts_with('<'), "{place}: names {word}");
            }
            assert!(!text.contains("order of the reference"), "{place}");
            let integers = told.problem.buffers.iter().any(|it| it.dtype.bytes() == 1);
            assert!(
                !is_float || integers || !text.contains("int8-dot-products"),
                "{place}: offers products of bytes for floats"
            );
        }
    }
}

/// Leaves out material.
fn without_data(text: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines() {
        inside |= line.starts_with("<data kind=");
        if !inside {
            kept += line;
            kept.push('\n');
        }
        inside &= !line.starts_with("</data id=");
    }
    kept
}

/// Plans for one kernel have all in common but what they may choose from, and share the kernel
/// with the code that is asked for.
#[test]
fn prompts_of_a_run_begin_alike() {
    let catalog = Catalog::built_in().unwrap();
    for (label, problem, target) in SHOWN {
        let told = Told::of(&catalog, problem, target);
        let evaluation = evaluation(&told);
        let kernel = &told.problem.kernels["baseline"];
        let steps = told.steps();
        let text = |phase: Phase, seed: u64, menu: &[MenuItem]| {
            let input = PromptInput {
                menu,
                plan: Some(("other", "A plan.")),
                ..PromptInput::new(kernel, Some(&evaluation), Seed(seed))
            };
            let prompt = told.render(phase, &input);
            format!("{}\n\n{}", prompt.system, prompt.user)
        };
        let plans = [
            text(Phase::Plan, 1, &steps[..3]),
            text(Phase::Plan, 2, &steps[2..5]),
        ];
        let share = common(&plans[0], &plans[1]) as f64 / plans[0].len() as f64;
        assert!(0.7 < share, "{label}: two plans share {share:.2}");
        let code = text(Phase::Implement, 1, &steps);
        let shared = &plans[0][..common(&plans[0], &code)];
        let last = kernel.trim_end().lines().last().unwrap();
        assert!(shared.contains(&format!("| {last}\n</data")), "{label}");
    }
}

fn common(left: &str, right: &str) -> usize {
    left.bytes()
        .zip(right.bytes())
        .take_while(|(left, right)| left == right)
        .count()
}

//! A target, a problem, a kernel and requests about it.

use autocomp_agents::{
    BufferFacts, ImplementRequest, IsaFacts, PlanRequest, PromptFacts, RepairRequest,
};
use autocomp_core::{
    ContentHash, Cost, Diagnostic, Draft, Evaluation, Feedback, Measurement, MenuItem, Outcome,
    Plan, PlanKind, Purpose, Seed, Severity, SourceLocation, Stage, TaskKey,
};
use std::sync::Arc;

pub const KERNEL: &str = "void solution(int8_t a[4][4]) {\n  copy(a, 0);\n}\n";

pub fn facts() -> Arc<PromptFacts> {
    let isa = |title: &str, symbols: &[&str]| IsaFacts {
        title: title.to_owned(),
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        is_common: symbols.is_empty(),
        text: format!("What {title} does."),
    };
    Arc::new(PromptFacts {
        target: "toy-int8".to_owned(),
        target_description: "A toy accelerator.".to_owned(),
        syntax: &autocomp_c::C,
        unit: autocomp_core::Unit::Cycles,
        language: "C".to_owned(),
        architecture: "It has a row buffer of 16 rows.".to_owned(),
        isa: vec![
            isa("Fences", &[]),
            isa("Moving in", &["copy"]),
            isa("Moving out", &["mvout"]),
        ],
        constants: Vec::new(),
        counters: [
            ("bytes_read", "bytes moved in"),
            ("load_cycles", "a move in is awaited"),
            ("drain_cycles", "the array drains"),
            ("sto*", "moves out"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into(),
        general_rules: vec!["Keep the result exact.".to_owned()],
        plan_rules: vec!["Name the loops.".to_owned()],
        schedule_rules: vec!["Give the loops.".to_owned()],
        code_rules: vec!["No includes.".to_owned()],
        examples: Vec::new(),
        problem: "toy/copy".to_owned(),
        problem_description: "Copies a matrix.".to_owned(),
        buffers: vec![BufferFacts {
            name: "a".to_owned(),
            shape: vec![4, 4],
            dtype: "int8".to_owned(),
            alignment: 64,
            role: "inout".to_owned(),
            is_float: false,
        }],
        tolerance: None,
        work: None,
        entry: "solution".to_owned(),
        signature: "void solution(int8_t a[4][4])".to_owned(),
    })
}

pub fn menu() -> Vec<MenuItem> {
    ["double-buffer", "unroll", MenuItem::OTHER]
        .map(|id| MenuItem {
            id: id.to_owned(),
            text: format!("Do {id}."),
            ..MenuItem::default()
        })
        .to_vec()
}

pub fn evaluation() -> Evaluation {
    Evaluation {
        key: ContentHash::of(b"kernel"),
        outcome: Outcome::Ok,
        diagnostics: Vec::new(),
        measurement: Some(Measurement {
            cost: Cost::cycles(1000),
            figures: [("cold".to_owned(), 1200), ("instructions".to_owned(), 50)].into(),
            samples: Vec::new(),
            ratio_to_baseline: None,
            floor: Cost::cycles(250),
            percent_of_peak: 25.0,
            engine: "sim".to_owned(),
            compiler: "cc".to_owned(),
        }),
        feedback: Some(Feedback {
            bottleneck: "Loads wait for nothing.".to_owned(),
            counters: [("bytes_read".to_owned(), 64.0)].into(),
            lines: Vec::new(),
        }),
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}

pub fn key(plan: u32, draft: u32, purpose: Purpose) -> TaskKey {
    TaskKey {
        iteration: 1,
        parent: 0,
        plan,
        draft,
        repair: 0,
        purpose,
    }
}

pub fn plan_request(plan: u32) -> PlanRequest {
    PlanRequest {
        key: key(plan, 0, Purpose::Plan),
        place: 0,
        number: plan,
        seed: Seed(7),
        iterations: 8,
        kernel: KERNEL.to_owned(),
        evaluation: Arc::new(evaluation()),
        ancestors: Arc::default(),
        tried: Arc::default(),
        earlier: Arc::default(),
        lessons: Arc::default(),
        first_asked: None,
        kind: PlanKind::Step,
        menu: menu(),
        hidden: Vec::new(),
        other: None,
        reused: None,
    }
}

pub fn implement_request() -> ImplementRequest {
    ImplementRequest {
        key: key(0, 0, Purpose::Draft),
        seed: Seed(7),
        kernel: KERNEL.to_owned(),
        evaluation: Arc::new(evaluation()),
        plan: Plan {
            menu_item: "unroll".to_owned(),
            text: "Unroll the loop over rows by four.".to_owned(),
            payload: String::new(),
            proposer: "openai::m".to_owned(),
        },
        number: 0,
        repeats: 0,
        other: None,
        first_asked: None,
    }
}

pub fn repair_request() -> RepairRequest {
    let implement = implement_request();
    RepairRequest {
        key: implement.key,
        seed: implement.seed,
        attempt: 1,
        kernel: implement.kernel,
        evaluation: implement.evaluation,
        plan: implement.plan,
        draft: Draft {
            source: "void solution(int8_t a[4][4]) {\n  copy(a, 99);\n}\n".to_owned(),
            proposer: "openai::m".to_owned(),
        },
        failure: Evaluation {
            outcome: Outcome::Illegal,
            measurement: None,
            feedback: None,
            diagnostics: vec![Diagnostic {
                stage: Stage::Test,
                severity: Severity::Error,
                code: "row-buffer-range".to_owned(),
                message: "row 99 is outside of the row buffer".to_owned(),
                location: Some(SourceLocation {
                    file: "kernel.c".to_owned(),
                    line: 2,
                    column: None,
                }),
                notes: vec!["copy(a, 99);".to_owned()],
                remedy: Some("use rows 0 to 15".to_owned()),
            }],
            ..evaluation()
        },
    }
}

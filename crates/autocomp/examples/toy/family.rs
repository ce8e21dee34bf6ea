//! The toy family: a kernel is right if its steps add up to the problem's work, and costs 10
//! for each step beside what the step itself takes: nanoseconds on the machine that is
//! measured, cycles on its simulated twin.

use crate::language::{Steps, steps};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Feedback, Language, LineCost,
    Measurement, Outcome, PlanChoice, Ratio, RewriteError, RewritePlan, Rewriter, SourceLocation,
    Stage, Unit,
};
use autocomp_eval::profile::{Profile, Profiled, Section};
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluator, Family, Finding, Opening, Surroundings, kernel_key,
    read_machine,
};
use std::sync::Arc;

/// Nanoseconds that beginning a step takes.
const OVERHEAD: u64 = 10;
/// Half of the interval that a cost lies in, millionths.
const SPREAD_PPM: u32 = 500;

/// The family.
#[derive(Debug)]
pub struct Toy;

impl Family for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&Steps]
    }

    fn unit(&self, target: &Target, machine: &str) -> Result<Unit, EvalError> {
        read_machine(target, machine, unit)
    }

    fn check_target(&self, _target: &Target) -> Result<(), EvalError> {
        Ok(())
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        let machine = opening.machine;
        let mut key_base = ContentHasher::new("toy");
        key_base.update(&opening.problem.oracle_hash.0);
        key_base.update(machine.as_bytes());
        key_base.update(&opening.settings.seed.0.to_le_bytes());
        Ok(Arc::new(ToyBench {
            problem: opening.problem.clone(),
            unit: self.unit(opening.target, machine)?,
            engine: format!("toy machine={machine}"),
            key_base: key_base.finish(),
            device: opening.surroundings.device,
        }))
    }

    fn rewriter(
        &self,
        _problem: &Problem,
        _target: &Target,
        _machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        Ok(Some(Arc::new(Merging)))
    }

    fn examine(&self, _surroundings: &Surroundings) -> Vec<Finding> {
        vec![Finding {
            name: "machine",
            ok: true,
            detail: "needs nothing".to_owned(),
            remedies: Vec::new(),
        }]
    }

    fn probe(&self) -> &'static str {
        "toy"
    }
}

/// One toy problem.
#[derive(Debug)]
struct ToyBench {
    problem: Problem,
    /// What its machine tells: it is measured in nanoseconds, its simulator counts cycles.
    unit: Unit,
    engine: String,
    key_base: ContentHash,
    device: u32,
}

/// Reads the only line of a machine's file.
fn unit(text: &str) -> Result<Unit, String> {
    match text.trim() {
        "unit = \"ns\"" => Ok(Unit::Nanoseconds),
        "unit = \"cycles\"" => Ok(Unit::Cycles),
        other => Err(format!("`{other}` is no unit")),
    }
}

impl ToyBench {
    fn floor(&self) -> Cost {
        self.exactly(self.total() + OVERHEAD)
    }

    fn exactly(&self, value: u64) -> Cost {
        Cost {
            value,
            unit: self.unit,
            spread_ppm: 0,
        }
    }

    fn is_measured(&self) -> bool {
        self.unit == Unit::Nanoseconds
    }

    fn total(&self) -> u64 {
        self.problem.work.macs
    }

    fn failed(&self, source: &str, outcome: Outcome, stage: Stage, message: String) -> Evaluation {
        Evaluation {
            key: self.key(source),
            outcome,
            diagnostics: vec![Diagnostic::error(stage, "wrong-sum", message)],
            measurement: None,
            feedback: None,
            tiers: Vec::new(),
            worker: None,
            device: None,
        }
    }
}

impl Evaluator for ToyBench {
    fn key(&self, source: &str) -> ContentHash {
        kernel_key(self.key_base, source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        if Steps.flaw(source, &self.problem.entry).is_some() {
            let message = format!("it is no kernel that defines {}", self.problem.entry);
            return Ok(self.failed(source, Outcome::BuildFailed, Stage::Build, message));
        }
        let steps = steps(source).unwrap_or_default();
        let sum: u64 = steps.iter().map(|(_, count)| count).sum();
        if sum != self.total() {
            let message = format!("the steps add up to {sum}, not to {}", self.total());
            return Ok(self.failed(source, Outcome::Wrong, Stage::Test, message));
        }
        let cost = sum + OVERHEAD * steps.len() as u64;
        let floor = self.floor();
        let lines = steps.iter().map(|(line, count)| LineCost {
            location: SourceLocation {
                file: "kernel.steps".to_owned(),
                line: *line,
                column: None,
            },
            cost: self.exactly(count + OVERHEAD),
            cause: "step".to_owned(),
        });
        Ok(Evaluation {
            key: self.key(source),
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost: Cost {
                    spread_ppm: if self.is_measured() { SPREAD_PPM } else { 0 },
                    ..self.exactly(cost)
                },
                floor,
                percent_of_peak: floor.percent_of(self.exactly(cost)),
                samples: match self.is_measured() {
                    true => vec![cost, cost + 1],
                    false => Vec::new(),
                },
                ratio_to_baseline: self.is_measured().then_some(Ratio {
                    value: 0.5,
                    low: 0.4,
                    high: 0.6,
                }),
                engine: self.engine.clone(),
                compiler: "none".to_owned(),
                figures: [("steps".to_owned(), steps.len() as u64)].into(),
            }),
            feedback: Some(Feedback {
                bottleneck: "Beginning steps takes what could be saved.".to_owned(),
                counters: [("steps".to_owned(), steps.len() as f64)].into(),
                lines: lines.collect(),
            }),
            tiers: Vec::new(),
            worker: None,
            device: None,
        })
    }
}

impl Bench for ToyBench {
    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.key_base,
            identity: self.key(""),
            unit: self.unit,
            engine: self.engine.clone(),
            tools: vec!["none".to_owned()],
            floor: self.floor(),
            device: self.is_measured().then_some(self.device),
        }
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        let evaluation = self.evaluate(source)?;
        let Some(steps) = steps(source).filter(|_| evaluation.outcome == Outcome::Ok) else {
            return Ok(Profiled::Failed(Box::new(evaluation)));
        };
        Ok(Profiled::Right(Box::new(Profile {
            sections: vec![Section {
                title: Some("steps".to_owned()),
                text: format!("  {} of them\n", steps.len()),
            }],
            data: serde_json::json!({ "steps": steps.len() }),
            timeline: None,
        })))
    }
}

/// Merges the first two steps of a kernel.
#[derive(Debug)]
struct Merging;

impl Rewriter for Merging {
    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let steps = steps(source).ok_or_else(|| RewriteError::NotUnderstood("no steps".into()))?;
        let place = choice.plan as usize;
        if steps.len() < place + 2 {
            return Err(RewriteError::Nothing);
        }
        Ok(RewritePlan {
            menu_item: "merge".to_owned(),
            text: format!("Merge the steps {} and {}.", place + 1, place + 2),
            payload: place.to_string(),
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let place: usize = payload
            .parse()
            .map_err(|_| RewriteError::Payload(payload.to_owned()))?;
        let steps = steps(source).ok_or(RewriteError::Nothing)?;
        let [(first, a), (second, b)] = steps.get(place..place + 2).ok_or(RewriteError::Nothing)?
        else {
            return Err(RewriteError::Nothing);
        };
        if 0 < draft {
            return Err(RewriteError::Nothing);
        }
        let lines = source.lines().zip(1..).filter_map(|(line, number)| {
            if number == *first {
                Some(format!("step {}", a + b))
            } else if number == *second {
                None
            } else {
                Some(line.to_owned())
            }
        });
        Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
    }
}

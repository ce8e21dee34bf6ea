//! What tasks have come to, taken into the run.

use super::{Dispatcher, Done, Judged, Verdict};
use crate::error::RunError;
use crate::proposal::Answered;
use autocomp_core::{
    Confirmed, ContentHash, Diagnostic, Evaluated, Evaluation, Event, Outcome, Severity, Stage,
    StopReason, TaskKey,
};
use autocomp_eval::EvalError;
use std::sync::Arc;

impl Dispatcher<'_> {
    /// Takes the outcomes of the tasks that have ended. Where tasks are short, others are begun
    /// after every few of them, so that nobody waits for work until the last one is taken.
    pub(super) fn take_ended(&mut self) -> Result<(), RunError> {
        let mut ended = self.proposers.take_ended();
        ended.append(&mut self.evaluators.take_ended());
        ended.append(&mut self.confirmers.take_ended());
        for (idx, done) in ended.into_iter().enumerate() {
            if idx % 16 == 15 && self.stop.is_none() && !self.is_urgent && self.is_hurried() {
                self.launch()?;
            }
            self.take(done)?;
        }
        Ok(())
    }

    /// Takes the outcome of a task.
    fn take(&mut self, done: Done) -> Result<(), RunError> {
        let answered = match done {
            Done::Abandoned(key) => {
                self.proposing.remove(&key);
                return Ok(());
            }
            Done::Evaluation(key, source, evaluation) => {
                self.evaluating.remove(&source);
                return self.take_evaluation(key, source, (*evaluation)?);
            }
            Done::Confirmation(key, source, evaluation) => {
                self.confirming.remove(&key);
                return self.take_confirmation(key, source, (*evaluation)?);
            }
            Done::Proposal(key, answered) => {
                self.proposing.remove(&key);
                answered?
            }
        };
        match answered {
            Answered::Ended(event) => self.record(*event),
            Answered::Exhausted { message, exchanges } => {
                self.unended.extend(exchanges);
                let remedy = "resume the run when the models can be called again".to_owned();
                self.stop_proposals(StopReason::Exhausted, message, &[remedy]);
                Ok(())
            }
        }
    }

    fn take_evaluation(
        &mut self,
        key: TaskKey,
        source: ContentHash,
        judged: Judged,
    ) -> Result<(), RunError> {
        let Judged { verdict, code } = judged;
        let message = match verdict {
            Ok(Verdict::SameAs(known)) => {
                let evaluation = self.session.search.evaluation(known);
                let evaluation = evaluation.expect("machine code is known of evaluated kernels");
                let evaluation = Arc::clone(evaluation);
                return self.record(Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation,
                    same_as: Some(known),
                    code,
                    lacks: Vec::new(),
                }));
            }
            Ok(Verdict::Evaluated(evaluation))
                if (evaluation.outcome == Outcome::Ok) == evaluation.measurement.is_some() =>
            {
                return self.record(Event::Evaluated(Evaluated {
                    key,
                    source,
                    evaluation,
                    same_as: None,
                    code,
                    lacks: self.lacks(source)?,
                }));
            }
            Ok(Verdict::Evaluated(evaluation)) => format!(
                "evaluator fault: outcome `{}` and a measurement that {} there contradict each other",
                evaluation.outcome,
                if evaluation.measurement.is_some() {
                    "is"
                } else {
                    "is not"
                },
            ),
            Err(EvalError::Environment { message, remedies }) => {
                self.stop_everything(StopReason::Environment, message, &remedies);
                return Ok(());
            }
            Err(EvalError::Input { message, remedies }) => {
                self.stop_everything(StopReason::Input, message, &remedies);
                return Ok(());
            }
            Err(error) => error.to_string(),
        };
        tracing::error!(task = %key, %source, message, "a kernel could not be judged");
        // Without the baseline there is nothing to search from. A draft is one of many: it
        // would stop the run again and again, since a resumed run evaluates it again.
        if key == TaskKey::BASELINE {
            self.fault(key, source, &message);
            return Ok(());
        }
        let kernel = self.session.blobs().get_text(source)?;
        self.record(Event::Evaluated(Evaluated {
            key,
            source,
            evaluation: Arc::new(unjudged(self.evaluator.key(&kernel), message)),
            same_as: None,
            code: None,
            lacks: Vec::new(),
        }))
    }

    /// Returns the menu items that a kernel's text says nothing of.
    fn lacks(&self, source: ContentHash) -> Result<Vec<String>, RunError> {
        let menu = self.session.search.started().menu.iter();
        let about: Vec<_> = menu.filter(|it| !it.mentions.is_empty()).collect();
        if about.is_empty() {
            return Ok(Vec::new());
        }
        let text = self.session.blobs().get_text(source)?;
        let lacking = about.into_iter().filter(|it| !it.is_mentioned_in(&text));
        Ok(lacking.map(|it| it.id.clone()).collect())
    }

    fn take_confirmation(
        &mut self,
        key: TaskKey,
        source: ContentHash,
        evaluation: Result<Evaluation, EvalError>,
    ) -> Result<(), RunError> {
        let evaluation = match evaluation {
            Err(EvalError::Environment { message, remedies }) => {
                self.stop_everything(StopReason::Environment, message, &remedies);
                return Ok(());
            }
            Err(EvalError::Input { message, remedies }) => {
                self.stop_everything(StopReason::Input, message, &remedies);
                return Ok(());
            }
            // What cannot be judged is not confirmed.
            Err(error) => unjudged(source, error.to_string()),
            Ok(evaluation) => evaluation,
        };
        self.record(Event::Confirmed(Confirmed {
            key,
            source,
            evaluation: Arc::new(evaluation),
        }))
    }

    fn fault(&mut self, key: TaskKey, source: ContentHash, message: &str) {
        self.stop_everything(
            StopReason::Fault,
            format!("{message} (task {key}, kernel {})", source.short()),
            &[format!(
                "report it with the kernel, which `autocomp show {} --task {key}` prints",
                self.session.folder().display()
            )],
        );
    }
}

/// Returns what is known of a kernel that the evaluator could not judge.
fn unjudged(key: ContentHash, message: String) -> Evaluation {
    Evaluation {
        key,
        outcome: Outcome::Fault,
        diagnostics: vec![Diagnostic {
            stage: Stage::Test,
            severity: Severity::Error,
            code: "evaluator-fault".to_owned(),
            message,
            location: None,
            notes: vec![
                "this is a fault of autocomp, which says nothing about whether the kernel is right"
                    .to_owned(),
            ],
            remedy: Some(
                "report it with the kernel; meanwhile, write it in a plainer way".to_owned(),
            ),
        }],
        measurement: None,
        feedback: None,
        tiers: Vec::new(),
        worker: None,
        device: None,
    }
}

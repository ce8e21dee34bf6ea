//! A model's choice of sections of the ISA reference: one small request for each kernel.

use crate::code_reply::{fenced_blocks, normalize};
use crate::complaint::Complaint;
use crate::llm_proposer::LlmProposer;
use crate::llm_settings::IsaChoice;
use crate::prompt::{Phase, PromptInput};
use crate::proposer::{Exchange, ProposeErrorKind};
use autocomp_core::{ContentHash, Evaluation, Seed};
use autocomp_llm::ReplySchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Choices that were made, by kernel: titles of sections, or none if the model
/// gave no usable answer.
#[derive(Debug, Default)]
pub(crate) struct IsaChoices {
    by_kernel: Mutex<HashMap<ContentHash, Choice>>,
}

type Choice = Arc<OnceCell<Option<Vec<String>>>>;

impl IsaChoices {
    fn of(&self, kernel: &str) -> Choice {
        let mut by_kernel = self
            .by_kernel
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            by_kernel
                .entry(ContentHash::of(kernel.as_bytes()))
                .or_default(),
        )
    }
}

#[derive(Deserialize)]
struct Chosen {
    sections: Vec<usize>,
}

impl LlmProposer {
    /// Returns the titles of the ISA sections that a model chose for a kernel,
    /// with the calls that were made for it now: none if it was asked before.
    /// Without a usable answer there is no choice, and symbols decide.
    pub(crate) async fn isa_for(
        &self,
        kernel: &str,
        evaluation: &Evaluation,
        slot: u64,
    ) -> (Option<Vec<String>>, Vec<Exchange>) {
        if self.settings().isa == IsaChoice::Symbols || self.facts.isa.is_empty() {
            return (None, Vec::new());
        }
        let choice = self.isa_choices.of(kernel);
        let mut exchanges = Vec::new();
        let chosen = choice
            .get_or_try_init(|| async {
                let input = PromptInput::new(kernel, Some(evaluation), Seed(0));
                let parse = |text: &str| parse_sections(text, self.facts.isa.len());
                let reply = self
                    .ask(
                        &format!(
                            "{}-{}",
                            Phase::Isa.name(),
                            ContentHash::of(kernel.as_bytes()).short()
                        ),
                        (self.planners(), slot),
                        |_| self.render(Phase::Isa, &input),
                        Some(&sections_schema()),
                        parse,
                    )
                    .await;
                match reply {
                    Ok(reply) => {
                        exchanges = reply.exchanges;
                        let (numbers, _) = reply.value;
                        let titles = numbers
                            .into_iter()
                            .map(|number| self.facts.isa[number - 1].title.clone());
                        Ok(Some(titles.collect()))
                    }
                    Err(error) => {
                        exchanges = error.exchanges;
                        match error.kind {
                            // The next kernel may fare better, this one was asked for.
                            ProposeErrorKind::Failed | ProposeErrorKind::Nothing => Ok(None),
                            ProposeErrorKind::Exhausted => Err(()),
                        }
                    }
                }
            })
            .await
            .map_or(None, Clone::clone);
        (chosen, exchanges)
    }
}

fn sections_schema() -> ReplySchema {
    ReplySchema {
        name: "sections".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "sections": { "type": "array", "items": { "type": "integer" } } },
            "required": ["sections"],
            "additionalProperties": false,
        }),
    }
}

/// Finds the numbers of sections in a reply, from 1 to `n_sections`.
pub fn parse_sections(reply: &str, n_sections: usize) -> Result<Vec<usize>, Complaint> {
    let text = normalize(reply)?;
    let blocks = fenced_blocks(&text);
    let chosen: Chosen = blocks
        .iter()
        .map(|block| block.text.as_str())
        .chain([text.as_str()])
        .map(str::trim)
        .filter(|candidate| candidate.starts_with('{'))
        .find_map(|candidate| serde_json::from_str(candidate).ok())
        .ok_or_else(|| Complaint::of("not-json", &[]))?;
    if chosen.sections.is_empty() {
        return Err(Complaint::of("no-section", &[]));
    }
    match chosen
        .sections
        .iter()
        .find(|number| !(1..=n_sections).contains(*number))
    {
        Some(number) => Err(Complaint::of(
            "section-unknown",
            &[
                ("number", &number.to_string()),
                ("count", &n_sections.to_string()),
            ],
        )),
        None => Ok(chosen.sections),
    }
}

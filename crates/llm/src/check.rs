//! Whether models answer, and what they can do.

use crate::completion::{ReasoningEffort, Request};
use crate::connector::{ConnectError, Connector};
use crate::error::LlmErrorKind;
use crate::model::{Caching, ModelSpec};
use crate::price::Price;
use autocomp_core::UsdMicros;
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;

/// How runs ask, so that a model that is refused there is refused here.
#[derive(Clone, Copy, Debug)]
pub struct CheckSettings {
    /// Tokens allowed for an answer.
    pub max_output_tokens: u32,
    /// Sampling temperature; absent for the model's own.
    pub temperature: Option<f64>,
    /// How hard to think; absent for the model's own.
    pub reasoning: Option<ReasoningEffort>,
}

/// What came of one small request to a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCheck {
    /// The model string as given.
    pub model: String,
    /// Whether it answered.
    pub ok: bool,
    /// Why not, and what to do.
    pub error: Option<String>,
    /// The class of the error.
    pub error_kind: Option<LlmErrorKind>,
    /// Time to the complete answer, retries included.
    pub latency_ms: u64,
    /// What the request cost.
    pub cost: UsdMicros,
    /// The price, if known.
    pub price: Option<Price>,
    /// How its provider caches prompts.
    pub caching: Option<Caching>,
    /// Whether its provider enforces JSON schemas.
    pub structured_output: Option<bool>,
    /// Whether it reported the tokens it used; otherwise costs are guesses.
    pub reports_usage: Option<bool>,
}

/// Sends one small request to each model, one after the other, with the settings of a run.
pub async fn check_models<S: AsRef<str>>(
    connector: &Connector,
    names: &[S],
    settings: CheckSettings,
) -> Vec<ModelCheck> {
    let mut checks = Vec::new();
    for name in names {
        checks.push(check_model(connector, name.as_ref(), settings).await);
    }
    checks
}

async fn check_model(connector: &Connector, name: &str, settings: CheckSettings) -> ModelCheck {
    let spec: Option<ModelSpec> = name.parse().ok();
    let info = spec.as_ref().map(|spec| spec.provider.info());
    let mut check = ModelCheck {
        model: name.to_owned(),
        ok: false,
        error: None,
        error_kind: None,
        latency_ms: 0,
        cost: UsdMicros(0),
        price: spec.as_ref().and_then(|spec| connector.price(spec).ok()),
        caching: info.map(|info| info.caching),
        structured_output: info.map(|info| info.structured_output),
        reports_usage: None,
    };
    let set = match connector.connect(&[name]) {
        Ok(set) => set,
        Err(error) => {
            if let ConnectError::Client(error) = &error {
                check.error_kind = Some(error.kind);
                check.error = Some(error.message.clone());
            } else {
                check.error = Some(error.to_string());
            }
            return check;
        }
    };
    let mut request = Request::new(
        "You are being tested.",
        "Reply with the single word: ready",
        settings.max_output_tokens,
    );
    request.temperature = settings.temperature;
    request.reasoning = settings.reasoning;
    let start = Instant::now();
    for member in set.members() {
        let result = member.complete(&request).await;
        check.latency_ms = millis(start.elapsed());
        let attempts = match &result {
            Ok(completion) => &completion.attempts[..],
            Err(error) => &error.attempts[..],
        };
        check.cost = crate::meter::total_cost(attempts);
        match result {
            Ok(completion) => {
                member.judge(Ok(()));
                check.ok = true;
                check.reports_usage = Some(completion.tokens.is_some());
            }
            Err(error) => {
                check.error_kind = Some(error.kind);
                check.error = Some(error.message);
            }
        }
    }
    check
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

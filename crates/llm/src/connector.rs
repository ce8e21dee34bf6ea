//! From model strings to sets of models ready to be asked.

use crate::breaker::BreakerPolicy;
use crate::budget::Budget;
use crate::client::LlmClient;
use crate::command::CommandClient;
use crate::completion::{Completion, Request};
use crate::error::{LlmError, LlmErrorKind};
use crate::mailbox::MailboxClient;
use crate::member::{Member, MemberHealth, ModelSet};
use crate::meter::Metered;
use crate::model::{ModelSpec, ParseModelError, Provider};
use crate::network_client::NetworkClient;
use crate::price::{Price, PriceError, PriceTable};
use crate::retries::{Retried, RetryPolicy};
use crate::secrets::{Secrets, conceal};
use crate::stray_calls::Unclaimed;
use crate::throttle::{Gate, Throttled};
use crate::time_limit::Timed;
use crate::variables::Variables;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How models are asked. Limits are per provider and address.
#[derive(Clone, Debug)]
pub struct ConnectSettings {
    /// Time limit of one call.
    pub timeout: Duration,
    /// Time limit of an answer in a mailbox, where people may be asked. It is
    /// not asked for twice.
    pub answer_timeout: Duration,
    /// Retries and the total deadline.
    pub retry: RetryPolicy,
    /// When a model is set aside.
    pub breaker: BreakerPolicy,
    /// Calls at once.
    pub concurrency: usize,
    /// Calls started per minute; absent for no limit.
    pub requests_per_minute: Option<u32>,
    /// What models cost.
    pub prices: PriceTable,
    /// Whether a model without a price may be used, at a cost counted as zero.
    pub allow_unknown_prices: bool,
    /// Variables that programs may be given.
    pub variables: Variables,
}

impl ConnectSettings {
    /// Returns the settings that `autocomp` uses unless told otherwise.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            timeout: Duration::from_secs(300),
            answer_timeout: Duration::from_secs(24 * 3600),
            retry: RetryPolicy {
                max_attempts: 5,
                first_delay: Duration::from_secs(1),
                longest_delay: Duration::from_secs(60),
                deadline: Duration::from_secs(900),
            },
            breaker: BreakerPolicy {
                failures: 3,
                first_pause: Duration::from_secs(60),
                longest_pause: Duration::from_secs(900),
            },
            concurrency: 8,
            requests_per_minute: None,
            prices: PriceTable::built_in(),
            allow_unknown_prices: false,
            variables: Variables::default(),
        }
    }
}

/// A model cannot be set up.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The model string holds a key. It is stored with a run, and shown in lists
    /// of processes.
    #[error(
        "{0} holds a key, or what looks like one; name a variable that the program reads it from: `command::env:NAME program`"
    )]
    HoldsKey(String),
    /// The model string is wrong.
    #[error(transparent)]
    Model(#[from] ParseModelError),
    /// Its price is unknown.
    #[error(transparent)]
    Price(#[from] PriceError),
    /// A key or setting is missing, or a program or folder cannot be used.
    #[error("cannot set up {0}")]
    Client(#[source] Box<LlmError>),
}

/// Sets up models. Models of one provider share its limits, and a model named
/// twice (for plans and for code) is one member with one circuit breaker.
pub struct Connector {
    settings: ConnectSettings,
    secrets: Arc<Secrets>,
    budget: Arc<Budget>,
    gates: Mutex<BTreeMap<String, Arc<Gate>>>,
    members: Mutex<BTreeMap<String, Arc<Member>>>,
}

impl Connector {
    /// Creates a connector that pays from `budget` with the keys of `secrets`.
    #[must_use]
    pub fn new(settings: ConnectSettings, secrets: Arc<Secrets>, budget: Arc<Budget>) -> Self {
        Self {
            settings,
            secrets,
            budget,
            gates: Mutex::default(),
            members: Mutex::default(),
        }
    }

    /// Returns the budget.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the secrets, for redaction.
    #[must_use]
    pub fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// Sets up the models of `names`, in their order.
    ///
    /// # Errors
    /// A [`ConnectError`] for the first that cannot be set up. Nothing is sent.
    pub fn connect<S: AsRef<str>>(&self, names: &[S]) -> Result<ModelSet, ConnectError> {
        let members = names
            .iter()
            .map(|name| self.member(name.as_ref()))
            .collect::<Result<_, _>>()?;
        Ok(ModelSet::new(members))
    }

    /// Returns the models of `names` for an estimate: they have their prices, need no key, and
    /// answer nothing.
    ///
    /// # Errors
    /// A [`ConnectError`] for the first that cannot be.
    pub fn estimating<S: AsRef<str>>(&self, names: &[S]) -> Result<ModelSet, ConnectError> {
        let member = |name: &str| {
            self.refuse_keys(name)?;
            let spec: ModelSpec = name.parse()?;
            let price = self.price(&spec)?;
            Ok(self.wrap(Unasked(spec.to_string()), price))
        };
        let members = names.iter().map(|name| member(name.as_ref()));
        Ok(ModelSet::new(members.collect::<Result<_, ConnectError>>()?))
    }

    /// Wraps a client of the caller's own (a script in tests) like any other.
    #[must_use]
    pub fn wrap(&self, client: impl LlmClient + 'static, price: Price) -> Arc<Member> {
        let gate = self.gate(client.model());
        let (timeout, retry) = (self.settings.timeout, self.settings.retry);
        Arc::new(self.assemble(Box::new(client), price, gate, timeout, retry, false))
    }

    /// Takes what people should hear about, each once: shares of the budget that
    /// are used, models that are set aside, models that are back.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = self.budget.take_warnings();
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        for member in members.values() {
            notices.append(&mut member.take_notices());
        }
        notices
    }

    /// Returns how each model fared so far, in the order of their names.
    #[must_use]
    pub fn health(&self) -> Vec<MemberHealth> {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        members.values().map(|member| member.health()).collect()
    }

    /// Returns the price of a model under these settings.
    ///
    /// # Errors
    /// [`PriceError::Unknown`] if there is none and that is not allowed.
    pub fn price(&self, spec: &ModelSpec) -> Result<Price, PriceError> {
        match self.settings.prices.find(spec) {
            Err(PriceError::Unknown(model)) if self.settings.allow_unknown_prices => Ok(Price {
                source: "unknown, counted as zero".to_owned(),
                ..Price::free(&model)
            }),
            result => result,
        }
    }

    fn member(&self, name: &str) -> Result<Arc<Member>, ConnectError> {
        self.refuse_keys(name)?;
        let spec: ModelSpec = name.parse()?;
        let name = spec.to_string();
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = members.get(&name) {
            return Ok(Arc::clone(member));
        }
        let price = self.price(&spec)?;
        let client = base_client(&spec, &self.secrets, &self.settings.variables)
            .map_err(|error| ConnectError::Client(Box::new(error)))?;
        let gate = match spec.provider {
            // Each program and each folder is its own provider.
            Provider::Command | Provider::Mailbox => self.gate(&name),
            _ => {
                let url = spec.url.as_deref().unwrap_or_default();
                self.gate(&format!("{}@{url}", spec.provider.info().name))
            }
        };
        let (timeout, retry) = match spec.provider {
            Provider::Mailbox => {
                let limit = self.settings.answer_timeout;
                (
                    limit,
                    RetryPolicy {
                        max_attempts: 1,
                        deadline: limit,
                        ..self.settings.retry
                    },
                )
            }
            _ => (self.settings.timeout, self.settings.retry),
        };
        let structured = spec.provider.info().structured_output;
        let member = self.assemble(client, price, gate, timeout, retry, structured);
        let member = Arc::new(member);
        members.insert(name, Arc::clone(&member));
        Ok(member)
    }

    fn refuse_keys(&self, name: &str) -> Result<(), ConnectError> {
        let redacted = self.secrets.redact(name);
        let (concealed, is_suspect) = conceal(&redacted);
        if is_suspect || redacted != name {
            return Err(ConnectError::HoldsKey(concealed));
        }
        Ok(())
    }

    fn gate(&self, name: &str) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Gate::new(self.settings.concurrency, self.settings.requests_per_minute);
        Arc::clone(gates.entry(name.to_owned()).or_insert_with(new))
    }

    fn assemble(
        &self,
        client: Box<dyn LlmClient>,
        price: Price,
        gate: Arc<Gate>,
        timeout: Duration,
        retry: RetryPolicy,
        structured_output: bool,
    ) -> Member {
        let unclaimed = Unclaimed::new();
        let metered = Metered::new(
            Timed::new(client, timeout),
            price.clone(),
            Arc::clone(&self.budget),
            Arc::clone(&self.secrets),
        )
        .with_unclaimed(&unclaimed);
        let retried = Retried::new(Throttled::new(metered, gate), retry).with_unclaimed(&unclaimed);
        Member::new(
            Box::new(retried),
            price,
            self.settings.breaker,
            Arc::clone(&self.budget),
            structured_output,
            unclaimed,
        )
    }
}

/// A model of an estimate.
struct Unasked(String);

#[async_trait::async_trait]
impl LlmClient for Unasked {
    fn model(&self) -> &str {
        &self.0
    }

    async fn complete(&self, _request: &Request) -> Result<Completion, LlmError> {
        let said = "an estimate asks nothing";
        Err(LlmError::new(LlmErrorKind::InvalidRequest, &self.0, said))
    }
}

fn base_client(
    spec: &ModelSpec,
    secrets: &Arc<Secrets>,
    variables: &Variables,
) -> Result<Box<dyn LlmClient>, LlmError> {
    Ok(match spec.provider {
        Provider::Command => Box::new(CommandClient::new(spec, variables)?),
        Provider::Mailbox => Box::new(MailboxClient::new(spec)?),
        _ => Box::new(NetworkClient::new(spec, secrets)?),
    })
}

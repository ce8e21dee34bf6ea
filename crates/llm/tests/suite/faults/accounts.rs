//! What calls cost: bounds on what servers report, reservations before calls,
//! keys in what is sent.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::request;
use autocomp_core::{Usage, UsdMicros};
use autocomp_llm::{
    Amount, Budget, Caps, Completion, LlmClient, LlmError, LlmErrorKind, Message, Metered, Price,
    Request, ReservationError, ReservationJournal, Role, Secrets, TokenCount,
};
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-planted-key-0009";

/// Answers with what it was told to report, and keeps what it was asked.
struct Reporter {
    tokens: Option<TokenCount>,
    cost: Option<UsdMicros>,
    fails: bool,
    asked: Mutex<Vec<Request>>,
}

impl Reporter {
    fn of(tokens: TokenCount) -> Self {
        Self {
            tokens: Some(tokens),
            cost: None,
            fails: false,
            asked: Mutex::default(),
        }
    }
}

#[async_trait::async_trait]
impl LlmClient for Reporter {
    fn model(&self) -> &str {
        "toy"
    }

    async fn complete(&self, request: &Request) -> Result<Completion, LlmError> {
        self.asked.lock().unwrap().push(request.clone());
        if self.fails {
            let mut error = LlmError::new(LlmErrorKind::Truncated, "toy", "cut");
            *error.tokens = self.tokens.unwrap_or_default();
            return Err(error);
        }
        Ok(Completion {
            text: "fine".to_owned(),
            model: "toy".to_owned(),
            tokens: self.tokens,
            reported_cost: self.cost,
            attempts: Vec::new(),
        })
    }
}

fn price() -> Price {
    Price {
        input: 2.0,
        output: 10.0,
        ..Price::free("toy")
    }
}

fn metered(client: Reporter, price: Price, budget: &Arc<Budget>) -> Metered<Arc<Reporter>> {
    let secrets = Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    Metered::new(
        Arc::new(client),
        price,
        Arc::clone(budget),
        Arc::new(secrets),
    )
}

const ABSURD: TokenCount = TokenCount {
    input: u64::MAX,
    cached: u64::MAX,
    cache_write: u64::MAX,
    output: u64::MAX,
    reasoning: u64::MAX,
};

#[tokio::test]
async fn absurd_counts_of_tokens_are_bounded_by_what_was_possible() {
    let request = request();
    let prompt = request.prompt_bytes() as u64;
    for fails in [false, true] {
        let budget = Budget::unlimited();
        let client = Reporter {
            fails,
            ..Reporter::of(ABSURD)
        };
        let attempts = match metered(client, price(), &budget).complete(&request).await {
            Ok(completion) => completion.attempts,
            Err(error) => error.attempts.into(),
        };
        let attempt = &attempts[0];
        assert!(attempt.estimated);
        let tokens = attempt.tokens;
        assert!(
            (prompt..prompt + 5000).contains(&tokens.input),
            "{tokens:?}"
        );
        assert_eq!(
            (tokens.output, tokens.cached, tokens.cache_write),
            (1000, 0, 0)
        );
        assert_eq!(attempt.cost, UsdMicros(tokens.input * 2 + 10_000));
        assert_eq!(budget.spent().cost, attempt.cost);
        let warnings = budget.take_warnings().join("\n");
        assert!(
            warnings.contains("toy reports 18446744073709551615 tokens"),
            "{warnings}"
        );
    }
}

#[tokio::test]
async fn absurd_costs_are_bounded_and_usual_ones_are_believed() {
    for (price, reported, booked) in [
        (price(), 12_345, Some(12_345)),
        (Price::free("toy"), 12_345, Some(12_345)),
        (price(), u64::MAX, None),
        (Price::free("toy"), u64::MAX, None),
    ] {
        let budget = Budget::unlimited();
        let client = Reporter {
            cost: Some(UsdMicros(reported)),
            ..Reporter::of(TokenCount {
                input: 10,
                output: 10,
                ..TokenCount::default()
            })
        };
        let completion = metered(client, price, &budget)
            .complete(&request())
            .await
            .unwrap();
        let attempt = &completion.attempts[0];
        match booked {
            Some(booked) => assert_eq!((attempt.cost.0, attempt.estimated), (booked, false)),
            None => {
                assert!(
                    attempt.cost.0 < 10_000_000 && attempt.estimated,
                    "{attempt:?}"
                );
                assert_eq!(budget.take_warnings().len(), 1);
            }
        }
    }
}

/// Notes what is reserved, and refuses from some call on.
#[derive(Default)]
struct Notes {
    noted: Mutex<Vec<Usage>>,
    most: usize,
}

#[async_trait::async_trait]
impl ReservationJournal for Notes {
    async fn reserve(
        &self,
        _model: &str,
        _label: &str,
        most: &Usage,
    ) -> Result<u64, ReservationError> {
        let mut noted = self.noted.lock().unwrap();
        if self.most <= noted.len() {
            return Err(ReservationError);
        }
        noted.push(*most);
        Ok(noted.len() as u64 - 1)
    }
}

#[tokio::test]
async fn nothing_is_sent_before_its_reservation_is_written() {
    let budget = Budget::new(
        Caps {
            cost: Some(UsdMicros(1_000_000)),
            ..Caps::default()
        },
        Amount::default(),
    );
    let notes = Arc::new(Notes {
        most: 2,
        ..Notes::default()
    });
    let journal: Arc<dyn ReservationJournal> = notes.clone();
    budget.journal_reservations(&journal);
    let client = metered(Reporter::of(TokenCount::default()), price(), &budget);
    for number in 0..2 {
        let completion = client.complete(&request()).await.unwrap();
        assert_eq!(completion.attempts[0].reservation, Some(number));
    }
    let spent = budget.spent();
    let error = client.complete(&request()).await.unwrap_err();
    assert_eq!(
        (error.kind, error.attempts.len()),
        (LlmErrorKind::Cancelled, 0)
    );
    assert_eq!(
        (budget.spent(), budget.in_flight()),
        (spent, Amount::default())
    );
    for most in &*notes.noted.lock().unwrap() {
        assert_eq!((most.requests, most.output_tokens), (1, 1000));
        assert_eq!(most.cost, UsdMicros(most.input_tokens * 2 + 10_000));
    }
}

#[tokio::test]
async fn keys_in_prompts_are_not_sent() {
    let client = Arc::new(Reporter::of(TokenCount::default()));
    let secrets = Secrets::from_lookup(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    let metered = Metered::new(
        Arc::clone(&client),
        price(),
        Budget::unlimited(),
        Arc::new(secrets),
    );
    let mut request = Request::new(KEY, format!("// {KEY}"), 100);
    request.messages.push(Message {
        role: Role::Assistant,
        text: KEY.to_uppercase(),
    });
    let completion = metered.complete(&request).await.unwrap();
    let sent = format!("{:?}", client.asked.lock().unwrap()).to_lowercase();
    assert!(
        !sent.contains(KEY) && sent.matches("[openai_api_key]").count() == 3,
        "{sent}"
    );
    assert!(!completion.attempts[0].prompt.to_lowercase().contains(KEY));
}

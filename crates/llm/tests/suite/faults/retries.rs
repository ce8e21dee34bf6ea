//! When a request is made again, and when no more.

use super::request;
use autocomp_llm::{LlmClient, LlmErrorKind, Request, Retried, RetryPolicy, ScriptedClient};
use std::sync::Arc;
use std::time::Duration;

fn policy(max_attempts: usize, deadline: Duration) -> RetryPolicy {
    RetryPolicy {
        max_attempts,
        first_delay: Duration::from_secs(1),
        longest_delay: Duration::from_secs(8),
        deadline,
    }
}

#[tokio::test(start_paused = true)]
async fn retries_stop_at_success_at_the_limit_and_at_hopeless_errors() {
    let cases = [
        (
            vec![Err(LlmErrorKind::Overload), Ok("A plan.".to_owned())],
            None,
            2,
        ),
        (
            vec![Err(LlmErrorKind::Empty); 5],
            Some(LlmErrorKind::Empty),
            3,
        ),
        (vec![Err(LlmErrorKind::Auth)], Some(LlmErrorKind::Auth), 1),
        (
            vec![Err(LlmErrorKind::ContextTooLong)],
            Some(LlmErrorKind::ContextTooLong),
            1,
        ),
        (
            vec![Err(LlmErrorKind::Refused)],
            Some(LlmErrorKind::Refused),
            1,
        ),
    ];
    for (replies, error, calls) in cases {
        let script = Arc::new(ScriptedClient::new("openai::m", replies));
        let retried = Retried::new(Arc::clone(&script), policy(3, Duration::from_secs(600)));
        let result = retried.complete(&request()).await;
        assert_eq!(result.err().map(|error| error.kind), error);
        assert_eq!(script.requests().len(), calls);
    }
}

/// A client that is rate-limited with a wait, and notes when it was called.
struct Limited {
    wait: Duration,
    calls: std::sync::Mutex<Vec<tokio::time::Instant>>,
}

#[async_trait::async_trait]
impl LlmClient for Limited {
    fn model(&self) -> &str {
        "openai::limited"
    }

    async fn complete(
        &self,
        _request: &Request,
    ) -> Result<autocomp_llm::Completion, autocomp_llm::LlmError> {
        self.calls
            .lock()
            .expect("lock")
            .push(tokio::time::Instant::now());
        let mut error = autocomp_llm::LlmError::new(LlmErrorKind::RateLimit, self.model(), "429");
        error.retry_after = Some(self.wait);
        Err(error)
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_obeyed_and_the_deadline_too() {
    let wait = Duration::from_secs(30);
    let client = Arc::new(Limited {
        wait,
        calls: std::sync::Mutex::default(),
    });
    let start = tokio::time::Instant::now();
    let retried = Retried::new(Arc::clone(&client), policy(10, Duration::from_secs(100)));
    let error = retried.complete(&request()).await.expect_err("limited");
    assert_eq!(error.kind, LlmErrorKind::RateLimit);
    let calls = client.calls.lock().expect("lock").clone();
    // At 0, 30, 60 and 90 s; the next would be after the deadline of 100 s.
    assert_eq!(calls.len(), 4);
    assert!(calls.windows(2).all(|pair| wait <= pair[1] - pair[0]));
    assert!(start.elapsed() <= Duration::from_secs(100));
}

//! Models that fail are set aside.

use autocomp_llm::{Availability, Breaker, BreakerPolicy, LlmErrorKind};
use std::time::Duration;

fn breaker() -> Breaker {
    Breaker::new(BreakerPolicy {
        failures: 3,
        first_pause: Duration::from_secs(10),
        longest_pause: Duration::from_secs(60),
    })
}

#[tokio::test(start_paused = true)]
async fn three_failures_set_aside_and_one_probe_decides() {
    let breaker = breaker();
    for _ in 0..2 {
        assert_eq!(breaker.failed(LlmErrorKind::Overload, "503"), None);
    }
    assert!(breaker.failed(LlmErrorKind::Overload, "503").is_some());
    assert!(matches!(breaker.admit(), Availability::SetAside { .. }));
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(breaker.admit(), Availability::Available);
    assert!(matches!(breaker.admit(), Availability::SetAside { .. }));
    assert!(breaker.failed(LlmErrorKind::Overload, "503").is_some());
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(matches!(breaker.admit(), Availability::SetAside { .. }));
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(breaker.admit(), Availability::Available);
    assert!(breaker.succeeded());
    assert!(!breaker.succeeded());
    assert_eq!(breaker.admit(), Availability::Available);
    assert_eq!(breaker.admit(), Availability::Available);
}

#[tokio::test(start_paused = true)]
async fn failures_under_way_do_not_prolong_the_pause() {
    let breaker = breaker();
    for _ in 0..20 {
        let _ = breaker.failed(LlmErrorKind::Timeout, "slow");
    }
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(breaker.admit(), Availability::Available);
}

#[tokio::test(start_paused = true)]
async fn what_never_worked_is_given_up_and_what_did_is_not() {
    let fail = |breaker: &Breaker| {
        for _ in 0..3 {
            let _ = breaker.failed(LlmErrorKind::ProgramFailed, "exit status: 3");
        }
    };
    let never = breaker();
    fail(&never);
    assert!(matches!(never.admit(), Availability::Lost { .. }));
    let once = breaker();
    assert!(!once.succeeded());
    fail(&once);
    assert!(matches!(once.admit(), Availability::SetAside { .. }));
    let busy = breaker();
    for _ in 0..3 {
        let _ = busy.failed(LlmErrorKind::Overload, "503");
    }
    assert!(matches!(busy.admit(), Availability::SetAside { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_missing_key_is_final_and_the_budget_is_nobodys_fault() {
    let breaker = breaker();
    for _ in 0..5 {
        assert_eq!(breaker.failed(LlmErrorKind::BudgetExhausted, "cap"), None);
    }
    assert_eq!(breaker.admit(), Availability::Available);
    assert!(breaker.failed(LlmErrorKind::Auth, "401").is_some());
    tokio::time::advance(Duration::from_secs(10_000)).await;
    assert!(matches!(breaker.admit(), Availability::Lost { .. }));
}

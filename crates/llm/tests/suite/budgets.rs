//! Caps hold.

use autocomp_core::UsdMicros;
use autocomp_llm::{Amount, Budget, Caps};
use proptest::prelude::*;

fn money(micros: u64) -> Amount {
    Amount {
        cost: UsdMicros(micros),
        tokens: 1,
        requests: 1,
    }
}

fn capped(micros: u64) -> std::sync::Arc<Budget> {
    Budget::new(
        Caps {
            cost: Some(UsdMicros(micros)),
            ..Caps::default()
        },
        Amount::default(),
    )
}

#[tokio::test]
async fn a_call_waits_for_those_in_flight_and_then_fits() {
    let budget = capped(100);
    let first = budget.reserve(money(80)).await.expect("fits");
    let waiting = tokio::spawn({
        let budget = std::sync::Arc::clone(&budget);
        async move {
            budget
                .reserve(money(60))
                .await
                .map(|reservation| reservation.settle(money(60)))
        }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    first.settle(money(10));
    waiting
        .await
        .expect("joined")
        .expect("fits after the first settled for less");
    assert_eq!(budget.spent().cost, UsdMicros(70));
    assert!(budget.reserve(money(31)).await.is_err());
    assert!(budget.reserve(money(30)).await.is_ok());
}

#[tokio::test]
async fn a_cancelled_call_counts_in_full() {
    let budget = capped(100);
    drop(budget.reserve(money(40)).await.expect("fits"));
    assert_eq!(budget.spent().cost, UsdMicros(40));
    assert_eq!(budget.in_flight(), Amount::default());
}

#[tokio::test]
async fn warnings_come_once_each_and_not_again_after_a_resume() {
    let budget = capped(100);
    for _ in 0..9 {
        budget
            .reserve(money(10))
            .await
            .expect("fits")
            .settle(money(10));
    }
    let warnings = budget.take_warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("50 %") && warnings[1].starts_with("80 %"));
    let resumed = Budget::new(budget.caps(), budget.spent());
    resumed
        .reserve(money(1))
        .await
        .expect("fits")
        .settle(money(1));
    assert!(resumed.take_warnings().is_empty());
}

proptest! {
    /// Whatever the calls, spent money stays within the cap as long as each
    /// call costs at most what was reserved for it.
    #[test]
    fn the_cap_holds(calls in proptest::collection::vec((1..50_u64, 0..=100_u64), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("runtime");
        runtime.block_on(async {
            let budget = capped(500);
            for (reserved, percent) in calls {
                if let Ok(reservation) = budget.reserve(money(reserved)).await {
                    reservation.settle(money(reserved * percent / 100));
                }
                prop_assert!(budget.spent().cost.0 <= 500);
            }
            Ok(())
        })?;
    }
}

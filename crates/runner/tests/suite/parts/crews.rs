//! Tasks that run beside each other.

use autocomp_runner::inside::{Crew, Task};
use std::sync::Arc;
use tokio::sync::Notify;

#[tokio::test(flavor = "multi_thread")]
async fn no_outcome_waits_for_another_task() {
    let waiter = Arc::new(Notify::new());
    let crew = Crew::new(1, &waiter);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let long = move || {
        // Ends with an error if the test has failed.
        let _ = released.recv();
        2
    };
    let tasks: Vec<(u32, Task<u32>)> = vec![(1, Box::new(|| 1)), (2, Box::new(long))];
    crew.take(tasks);
    for expected in [1, 2] {
        loop {
            let ended = crew.take_ended();
            if !ended.is_empty() {
                assert_eq!(ended, [expected]);
                break;
            }
            match crew.overdue() {
                None => waiter.notified().await,
                Some(at) => {
                    let _ = tokio::time::timeout_at(at.into(), waiter.notified()).await;
                }
            }
        }
        let _ = release.send(());
    }
}

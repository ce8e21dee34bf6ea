//! Tasks that are done side by side.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Does all of `tasks` by `work`, `at_a_time` of them, and hands over each result, with the number
/// of its task, as it comes. No further task is begun once `take` refuses one.
///
/// # Errors
/// That of `take`.
pub fn side_by_side<T: Sync, R: Send, E>(
    tasks: &[T],
    at_a_time: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(usize, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_a_time.min(tasks.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((idx, task)) = {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    tasks.get(idx).map(|task| (idx, task))
                } {
                    if sender.send((idx, work(task))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (idx, result) in receiver {
            if let Err(error) = take(idx, result) {
                next.store(tasks.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    })
}

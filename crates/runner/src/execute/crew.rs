//! Threads that take tasks from a queue.
//!
//! Waking a thread for every task costs more than a short task does, so there
//! are as many threads as the tasks that wait seem to be worth, by how long the
//! last ones took, and all that are allowed once one waits for long.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Work for which it is worth waking a thread.
const WORTH_A_THREAD: Duration = Duration::from_micros(200);

/// Tasks that wait for each thread at most, if they are short.
const MOST_WAITING: usize = 15;

/// Something to be done.
pub(super) type Task = Box<dyn FnOnce() + Send>;

/// After this time without a task taken, there are too few threads.
const PATIENCE: Duration = Duration::from_millis(2);

/// Threads that take tasks from a queue, the oldest first.
pub(super) struct Crew<K> {
    most: usize,
    queue: Arc<Mutex<Queue<K>>>,
}

struct Queue<K> {
    /// Each with its name.
    waiting: VecDeque<(K, Task)>,
    threads: usize,
    /// When a task was taken last, or came to an empty queue.
    moved: Instant,
    /// How long a task takes; of the last few, the newest counting most.
    usual: Option<Duration>,
}

impl<K: Send + 'static> Crew<K> {
    /// Returns a crew of `most` threads at most, at least one. None is there yet.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            queue: Arc::new(Mutex::new(Queue {
                waiting: VecDeque::new(),
                threads: 0,
                moved: Instant::now(),
                usual: None,
            })),
        }
    }

    /// Returns how many tasks may be begun or wait at a time: one for each
    /// thread, or more if tasks are so short that threads would wait for them.
    pub(super) fn room(&self) -> usize {
        let is_short = lock(&self.queue)
            .usual
            .is_some_and(|it| it < WORTH_A_THREAD);
        if is_short {
            self.most * (1 + MOST_WAITING)
        } else {
            self.most
        }
    }

    /// Has tasks done, in this order; how many at a time is up to the crew.
    pub(super) fn take(&self, tasks: Vec<(K, Task)>) {
        if tasks.is_empty() {
            return;
        }
        let mut queue = lock(&self.queue);
        if queue.waiting.is_empty() {
            queue.moved = Instant::now();
        }
        queue.waiting.extend(tasks);
        let n_waiting = queue.waiting.len();
        let usual = queue.usual.unwrap_or(WORTH_A_THREAD).as_nanos() as usize;
        let worth = n_waiting.saturating_mul(usual) / WORTH_A_THREAD.as_nanos() as usize;
        let wanted = worth.clamp(1, self.most);
        self.call(queue, wanted);
    }

    /// Returns when more threads should be called if no task is taken until then.
    pub(super) fn overdue(&self) -> Option<Instant> {
        let queue = lock(&self.queue);
        let is_short = !queue.waiting.is_empty() && queue.threads < self.most;
        is_short.then(|| queue.moved + PATIENCE)
    }

    /// Has as many threads take tasks as may, if none was taken for long.
    pub(super) fn call_all_hands(&self) {
        let queue = lock(&self.queue);
        if queue.moved.elapsed() < PATIENCE {
            return;
        }
        let wanted = (queue.threads + queue.waiting.len()).min(self.most);
        self.call(queue, wanted);
    }

    /// Forgets the tasks that no thread has taken, and returns their names.
    pub(super) fn dismiss(&self) -> Vec<K> {
        let waiting = std::mem::take(&mut lock(&self.queue).waiting);
        waiting.into_iter().map(|(name, _)| name).collect()
    }

    fn call(&self, mut queue: MutexGuard<'_, Queue<K>>, wanted: usize) {
        let n_called = wanted.saturating_sub(queue.threads);
        queue.threads += n_called;
        drop(queue);
        for _ in 0..n_called {
            let queue = Arc::clone(&self.queue);
            tokio::task::spawn_blocking(move || work(&queue));
        }
    }
}

fn lock<K>(queue: &Mutex<Queue<K>>) -> MutexGuard<'_, Queue<K>> {
    // Tasks run outside of the lock, and nothing inside panics.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does tasks until none waits.
fn work<K>(queue: &Mutex<Queue<K>>) {
    let mut took = None;
    loop {
        let task = {
            let mut queue = lock(queue);
            if let Some(took) = took {
                queue.usual = Some(queue.usual.map_or(took, |usual| (7 * usual + took) / 8));
            }
            let Some((_, task)) = queue.waiting.pop_front() else {
                queue.threads -= 1;
                return;
            };
            queue.moved = Instant::now();
            task
        };
        let begun = Instant::now();
        task();
        took = Some(begun.elapsed());
    }
}

//! Threads that take tasks from a queue.
//!
//! Waking a thread for every task costs more than a short task does, so there
//! are as many threads as the tasks that wait seem to be worth, by how long the
//! last ones took, and all that are allowed once one waits for long.
//!
//! Nor is the one who waits for outcomes woken for every one of them: those of short tasks
//! are told of together.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Work for which it is worth waking a thread.
const WORTH_A_THREAD: Duration = Duration::from_micros(200);

/// Tasks that wait for each thread at most, if they are short.
const MOST_WAITING: usize = 15;

/// Something to be done, and what it comes to.
pub type Task<D> = Box<dyn FnOnce() -> D + Send>;

/// After this time without a task taken, there are too few threads; and so long may
/// outcomes be kept back at most.
const PATIENCE: Duration = Duration::from_millis(2);

/// Threads that take tasks from a queue, the oldest first.
pub struct Crew<K, D> {
    most: usize,
    /// How many threads can compute at once.
    processors: usize,
    queue: Arc<Mutex<Queue<K, D>>>,
    /// Who waits for outcomes.
    waiter: Arc<Notify>,
}

struct Queue<K, D> {
    /// Each with its name.
    waiting: VecDeque<(K, Task<D>)>,
    /// What tasks have come to that nobody has asked for yet.
    ended: Vec<D>,
    /// When it was told last that there is some of it, or when there was nothing to do.
    told: Instant,
    /// Whether the one who waits looks again soon without being told.
    is_watched: bool,
    threads: usize,
    /// When a task was taken last, or came to an empty queue.
    moved: Instant,
    /// How long a task takes; of the last few, the newest counting most.
    usual: Option<Duration>,
}

impl<K, D> Queue<K, D> {
    /// Returns whether tasks are so short that threads would wait for them.
    fn is_short(&self) -> bool {
        self.usual.is_some_and(|it| it < WORTH_A_THREAD)
    }
}

impl<K: Send + 'static, D: Send + 'static> Crew<K, D> {
    /// Returns a crew of `most` threads at most, at least one. None is there yet. It tells
    /// `waiter` when there are outcomes.
    pub fn new(most: usize, waiter: &Arc<Notify>) -> Self {
        Self {
            most: most.max(1),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            queue: Arc::new(Mutex::new(Queue {
                waiting: VecDeque::new(),
                ended: Vec::new(),
                told: Instant::now(),
                is_watched: false,
                threads: 0,
                moved: Instant::now(),
                usual: None,
            })),
            waiter: Arc::clone(waiter),
        }
    }

    /// Returns whether tasks are so short that several wait for each thread.
    pub(super) fn is_hurried(&self) -> bool {
        lock(&self.queue).is_short()
    }

    /// Returns how many tasks may be begun or wait at a time: one for each
    /// thread, or more if tasks are so short that threads would wait for them.
    pub(super) fn room(&self) -> usize {
        if lock(&self.queue).is_short() {
            self.most * (1 + MOST_WAITING)
        } else {
            self.most
        }
    }

    /// Has tasks done, in this order; how many at a time is up to the crew.
    pub fn take(&self, tasks: Vec<(K, Task<D>)>) {
        if tasks.is_empty() {
            return;
        }
        let mut queue = lock(&self.queue);
        if queue.waiting.is_empty() {
            queue.moved = Instant::now();
            queue.told = queue.moved;
        }
        queue.waiting.extend(tasks);
        let n_waiting = queue.waiting.len();
        let usual = queue.usual.unwrap_or(WORTH_A_THREAD).as_nanos() as usize;
        let worth = n_waiting.saturating_mul(usual) / WORTH_A_THREAD.as_nanos() as usize;
        // Who is done so soon does not wait for anything but a processor.
        let most = match queue.is_short() {
            true => self.most.min(self.processors),
            false => self.most,
        };
        let wanted = worth.clamp(1, most);
        self.call(queue, wanted);
    }

    /// Returns what tasks have come to since the last call, in the order in which they ended.
    pub fn take_ended(&self) -> Vec<D> {
        std::mem::take(&mut lock(&self.queue).ended)
    }

    /// Returns when to look again whether more threads should be called, because no task was
    /// taken until then, or whether there are outcomes that were not told of. To be called
    /// before every wait: outcomes are kept back only while somebody looks again.
    pub fn overdue(&self) -> Option<Instant> {
        let mut queue = lock(&self.queue);
        let lacks_threads = !queue.waiting.is_empty() && queue.threads < self.most;
        queue.is_watched = 0 < queue.threads && queue.is_short();
        if !queue.ended.is_empty() {
            Some(Instant::now())
        } else if lacks_threads {
            Some(queue.moved + PATIENCE)
        } else {
            queue.is_watched.then(|| Instant::now() + PATIENCE)
        }
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

    fn call(&self, mut queue: MutexGuard<'_, Queue<K, D>>, wanted: usize) {
        let n_called = wanted.saturating_sub(queue.threads);
        queue.threads += n_called;
        drop(queue);
        for _ in 0..n_called {
            let (queue, waiter) = (Arc::clone(&self.queue), Arc::clone(&self.waiter));
            tokio::task::spawn_blocking(move || work(&queue, &waiter));
        }
    }
}

fn lock<K, D>(queue: &Mutex<Queue<K, D>>) -> MutexGuard<'_, Queue<K, D>> {
    // Tasks run outside of the lock, and nothing inside panics.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does tasks until none waits.
fn work<K, D>(queue: &Mutex<Queue<K, D>>, waiter: &Notify) {
    let mut done = None;
    loop {
        let mut guard = lock(queue);
        let has_ended = done.is_some();
        if let Some((outcome, took)) = done {
            guard.ended.push(outcome);
            guard.usual = Some(guard.usual.map_or(took, |usual| moved(usual, took)));
        }
        let next = guard.waiting.pop_front();
        // Whoever waits would otherwise be woken for every one of many short tasks.
        let may_wait = next.is_some() && guard.is_watched && guard.told.elapsed() < WORTH_A_THREAD;
        let tells = has_ended && !may_wait;
        if tells {
            guard.told = Instant::now();
        }
        match next {
            Some(_) => guard.moved = Instant::now(),
            None => guard.threads -= 1,
        }
        drop(guard);
        if tells {
            waiter.notify_one();
        }
        let Some((_, task)) = next else { return };
        let begun = Instant::now();
        let outcome = task();
        done = Some((outcome, begun.elapsed()));
    }
}

/// Returns how long a task usually takes, if it was `usual` before and one took `took`.
fn moved(usual: Duration, took: Duration) -> Duration {
    // One that took much longer was probably kept from its processor by others.
    let most = 8 * usual.max(Duration::from_micros(1));
    (7 * usual + took.min(most)) / 8
}

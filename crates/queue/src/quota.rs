//! How much of a worker each user may have in a day.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// In which time used time counts.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What each user has had of a worker.
#[derive(Debug, Default)]
pub struct Used {
    /// When jobs ended, and how long each took.
    jobs: BTreeMap<String, VecDeque<(Instant, Duration)>>,
}

impl Used {
    /// Notes that a job of `user` that ends `now` took so long.
    pub fn add(&mut self, user: &str, now: Instant, took: Duration) {
        let jobs = self.jobs.entry(user.to_owned()).or_default();
        match jobs.back_mut() {
            // One entry a minute is exact enough, and few.
            Some((at, sum)) if now.duration_since(*at) < Duration::from_secs(60) => *sum += took,
            _ => jobs.push_back((now, took)),
        }
    }

    /// Returns what `user` has had in the day before `now`.
    pub fn of(&mut self, user: &str, now: Instant) -> Duration {
        let Some(jobs) = self.jobs.get_mut(user) else {
            return Duration::ZERO;
        };
        while jobs
            .front()
            .is_some_and(|(at, _)| DAY < now.duration_since(*at))
        {
            jobs.pop_front();
        }
        jobs.iter().map(|(_, took)| *took).sum()
    }
}

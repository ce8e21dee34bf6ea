//! Whose job is next: each queue gets worker time in proportion to its weight.

use std::collections::BTreeMap;
use std::time::Duration;

/// How much each queue has had, in seconds over its weight.
#[derive(Debug, Default)]
pub struct Shares {
    had: BTreeMap<String, f64>,
}

impl Shares {
    /// Notes that a job of `queue` took so long; at least a little, so that queues of quick jobs
    /// take turns.
    pub fn charge(&mut self, queue: &str, weight: u32, took: Duration) {
        let seconds = took.as_secs_f64().max(1e-3);
        let had = self.had.entry(queue.to_owned()).or_default();
        *had += seconds / f64::from(weight.max(1));
    }

    /// Returns the queues of `waiting` in the order in which they are to be served. One that was
    /// not here has had as much as the one that has had least: it is owed nothing from before.
    pub fn order<'q>(&mut self, waiting: &[&'q str]) -> Vec<&'q str> {
        self.had
            .retain(|queue, _| waiting.contains(&queue.as_str()));
        let least = self.had.values().copied().min_by(f64::total_cmp);
        for queue in waiting {
            let had = self.had.entry((*queue).to_owned());
            had.or_insert(least.unwrap_or_default());
        }
        let mut order = waiting.to_vec();
        order.sort_by(|a, b| self.had[*a].total_cmp(&self.had[*b]).then(a.cmp(b)));
        order
    }
}

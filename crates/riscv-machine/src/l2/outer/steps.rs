//! What goes out and comes back in a cycle, and in which cycle something does next.
//!
//! *Source*: Rocket Chip, `TLCacheCork`, `TLArbiter`, `TLToAXI4`.

use super::{ANSWERS, Back, Outer, Queue, REQUESTS, VICTIMS};

/// An acknowledgement that has waited for one less goes before the next line, in
/// every so manieth cycle (RTL: the counter in `TLToAXI4`).
const WAIT: u64 = 8;

impl Outer {
    /// Works through cycle `now`, the next one in which anything happens; returns what
    /// comes back.
    pub fn step(&mut self, now: u64) -> Option<Back> {
        while self.coming_numbers.next() <= now {
            self.coming_numbers.drop_front();
            self.numbers += 1;
        }
        // A place that is left in a cycle is free from the next one on.
        let (releases, permissions) = (self.releases.len(), self.permissions.len());
        let back = self.send_back(now);
        self.send_victim(releases, now);
        self.send_request(permissions, now);
        self.look_ahead(now);
        back
    }

    fn send_victim(&mut self, releases: usize, now: u64) {
        let Some((from, victim)) = self.victims.front() else {
            return;
        };
        if from.max(self.victims_free) > now {
            return;
        }
        if !victim.data {
            if releases < ANSWERS {
                self.victims.drop_front();
                self.victims_free = now + 1;
                self.releases.push_back(now + 1, victim);
            }
        } else if self.out_free <= now {
            self.victims.drop_front();
            self.victims_free = now + self.line_cycles;
            self.out_free = now + self.line_cycles;
            let from = now + self.write_cycles;
            self.dirty_victims -= 1;
            self.written.push_back(from, victim);
            if self.written.len() == 1 {
                self.offered = from;
            }
        }
    }

    fn send_request(&mut self, permissions: usize, now: u64) {
        let Some((from, request)) = self.requests.front() else {
            return;
        };
        if from > now {
            return;
        }
        if !request.data {
            if permissions < ANSWERS {
                self.requests.drop_front();
                self.permissions.push_back(now + 1, request);
            }
        } else if self.out_free <= now {
            self.requests.drop_front();
            self.out_free = now + 1;
            self.lines.push_back(now + self.read_cycles, request);
        }
    }

    fn send_back(&mut self, now: u64) -> Option<Back> {
        if self.back_free > now {
            return None;
        }
        let written = self.written.next() <= now;
        let told = self.told > 0;
        let urgent = written && !told && (now - self.offered) % WAIT == WAIT - 1;
        if self.lines.next() <= now && !urgent {
            // Without a number everything waits that is not more urgent.
            if self.numbers == 0 {
                return None;
            }
            self.numbers -= 1;
            self.back_free = now + self.line_cycles;
            if told {
                self.told -= 1;
                self.lines.drop_front();
                return None;
            }
            return Some(Back::Line(take(&mut self.lines)));
        }
        let back = if written {
            let gone = take(&mut self.written);
            self.offered = self.written.next().max(now + 1);
            Some(Back::Gone(gone))
        } else if self.releases.next() <= now {
            Some(Back::Gone(take(&mut self.releases)))
        } else if self.permissions.next() <= now && self.numbers > 0 {
            self.numbers -= 1;
            Some(Back::Permission(take(&mut self.permissions)))
        } else {
            return None;
        };
        self.back_free = now + 1;
        back
    }

    /// Works out what happens next after cycle `now`.
    pub(super) fn look_ahead(&mut self, now: u64) {
        let line = self.lines.next();
        let mut gone = self.written.next();
        if self.numbers > 0 || line > now {
            gone = gone.min(self.releases.next());
        }
        let mut seen = if self.numbers > 0 {
            let line = if self.told > 0 { u64::MAX } else { line };
            line.min(self.permissions.next())
        } else {
            self.coming_numbers.next()
        };
        let mut step = seen.min(gone);
        if self.numbers > 0 {
            step = step.min(line);
        }
        step = step.max(self.back_free);
        if self.urgent > 0 {
            seen = step;
        }
        seen = seen.max(self.back_free);
        if let Some((from, victim)) = self.victims.front() {
            let at = from.max(self.victims_free);
            let mut gone = u64::MAX;
            if victim.data {
                let at = at.max(self.out_free);
                step = step.min(at);
                gone = at + self.write_cycles;
            } else if self.releases.len() < ANSWERS {
                step = step.min(at);
                gone = at + 1;
            }
            if self.urgent > 0 {
                seen = seen.min(gone);
            }
        }
        if let Some((from, request)) = self.requests.front() {
            if request.data {
                let at = from.max(self.out_free);
                step = step.min(at);
                seen = seen.min(at + self.read_cycles);
            } else if self.permissions.len() < ANSWERS {
                step = step.min(from);
                seen = seen.min(from + 1);
            }
        }
        if let Some((last, _)) = self.victims.get(VICTIMS - 1) {
            // From then on no other one may leave.
            if last > now {
                step = step.min(last);
            }
            seen = step;
        }
        if self.requests.len() == REQUESTS {
            seen = step;
        }
        self.next_step = step.max(now + 1);
        self.next = seen.max(now + 1);
    }
}

/// Takes the first message of a queue; returns its tracker.
#[inline]
fn take<const N: usize>(queue: &mut Queue<N>) -> usize {
    queue.take().tracker.into()
}

//! What the array is charged for standing idle before an operation.

use super::engine::Engine;
use super::station::Slot;
use super::stats::IdleReason;

impl Engine {
    /// Charges the cycles before an operation to what held it back.
    pub(super) fn charge_idle(&mut self, slot: Option<Slot>, visible: u64, now: u64, idle: u64) {
        let from = now - idle;
        let Some(slot) = slot else {
            self.stats.idle(IdleReason::Latency, idle, None);
            return;
        };
        let entry = self.station.entry(slot);
        let (pc_of, waited_for, blocked) = (entry.pc, entry.waited_for, entry.blocked);
        let mut at = from;
        let mut take = |until: u64| {
            let cycles = until.min(now).saturating_sub(at);
            at = at.max(until.min(now));
            cycles
        };
        let before_allocation = take(entry.allocated);
        let waiting = take(entry.ready);
        let moving = take(visible);
        let rest = take(now);
        let (reason, pc) = match blocked {
            Some(class) => (
                match class as usize {
                    0 => IdleReason::LoadEntries,
                    1 => IdleReason::StoreEntries,
                    _ => IdleReason::ExecuteEntries,
                },
                Some(pc_of),
            ),
            None => (IdleReason::Core, Some(pc_of)),
        };
        self.stats.idle(reason, before_allocation, pc);
        match waited_for {
            Some((class, pc)) => {
                let reason = match class as usize {
                    0 => IdleReason::Load,
                    1 => IdleReason::Store,
                    _ => IdleReason::Dependency,
                };
                self.stats.idle(reason, waiting, Some(pc));
            }
            None => self.stats.idle(IdleReason::Latency, waiting, None),
        }
        self.stats.idle(IdleReason::Latency, moving, None);
        self.stats.idle(IdleReason::Dependency, rest, Some(pc_of));
    }
}

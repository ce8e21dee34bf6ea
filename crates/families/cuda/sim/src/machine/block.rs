//! One block: its warps take turns, and it with others.

use super::access::Failed;
use super::delays::Delays;
use super::findings::{Fault, Finding, Thread};
use super::launch::{Launch, Order};
use super::memory::DeviceMemory;
use super::observer::Witness;
use super::precedence::Precedence;
use super::shadow::Shadow;
use super::specials;
use super::warp::{Waits, Warp};
use crate::decode::Kernel;
use crate::decode::polls::is_waiting;
use crate::ptx::Line;

/// Steps that a warp takes before the next one has its turn.
const TURN: u32 = 4096;
/// The same where somebody watches: warps of a device go on side by side, and find in the L1
/// what others have just read.
const WATCHED_TURN: u32 = 32;

/// A block that runs.
#[derive(Debug)]
pub(crate) struct Block<'r, O> {
    pub(crate) kernel: &'r Kernel,
    pub(crate) launch: &'r Launch,
    pub(crate) memory: &'r mut DeviceMemory,
    pub(crate) observer: &'r mut O,
    pub(crate) shared: Vec<u8>,
    pub(crate) shared_shadow: Shadow,
    /// What threads know of each other's uses of memory.
    pub(crate) precedence: Precedence,
    /// Stores that others do not see yet, in the mixed run where nobody looks for races.
    pub(crate) delays: Option<Delays>,
    /// Its number in the grid.
    pub(crate) number: u32,
    /// Whether races and reads of what nobody wrote are looked for.
    pub(crate) is_watched: bool,
    /// Threads that arrived at each barrier without waiting.
    pub(crate) arrived: [u32; 16],
    /// Steps that the launch has taken.
    pub(crate) time: u64,
    /// Steps that it may take.
    pub(crate) most_steps: u64,
    /// Whether the turn of the warp that runs is over.
    pub(crate) is_over: bool,
    /// In which order its warps have their turns, and threads that do something atomic.
    pub(crate) turns: Order,
}

/// A block that has begun, while others have their turn.
#[derive(Debug)]
pub(crate) struct Resident {
    /// Its number in the grid.
    pub(crate) number: u32,
    warps: Vec<Warp>,
    shared: Vec<u8>,
    arrived: [u32; 16],
    /// Warps that have not ended.
    left: usize,
}

impl Resident {
    pub(crate) fn new(warps: Vec<Warp>, number: u32) -> Self {
        Self {
            number,
            warps,
            shared: Vec::new(),
            arrived: [0; 16],
            left: 0,
        }
    }

    /// Returns the bytes of its registers, and of the memory of its threads.
    pub(crate) fn bytes(&self) -> usize {
        let of = |it: &Warp| 128 * it.words.len() + 256 * it.doubles.len() + it.local.len();
        self.warps.iter().map(of).sum()
    }
}

/// Why a warp stops for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// Its turn is over.
    Turn,
    /// All of its threads wait.
    Waits,
    /// All of its threads have ended.
    Ended,
}

impl<O: Witness> Block<'_, O> {
    /// Makes a finding of a fault of the thread `lane` of a warp.
    #[cold]
    pub(super) fn finding(&self, (fault, lane): Failed, warp: &Warp, at: u32) -> Box<Finding> {
        let step = self.kernel.steps.get(at as usize);
        Box::new(Finding {
            fault,
            kernel: self.kernel.name.clone(),
            line: step.map_or(Line(0), |it| it.line),
            thread: Thread {
                block: self.launch.block_position(self.number),
                thread: self.launch.thread(warp.number * 32 + lane.min(31)),
            },
        })
    }

    /// Ends the turn of a warp that has read what others change, in the mixed run: others may come
    /// before what depends on it.
    pub(super) fn let_others_come(&mut self) {
        self.is_over = matches!(self.turns, Order::Mixed(_));
        if let Some(delays) = &mut self.delays {
            delays.read();
        }
    }

    /// Takes the place of a resident block, or gives it back.
    fn swap(&mut self, resident: &mut Resident) {
        std::mem::swap(&mut self.shared, &mut resident.shared);
        std::mem::swap(&mut self.arrived, &mut resident.arrived);
        self.number = resident.number;
    }

    /// Gives each warp of a block a turn. Returns whether the block has ended.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, resident: &mut Resident) -> Result<bool, Box<Finding>> {
        self.swap(resident);
        if O::IS_WATCHING {
            self.observer.goes_on(resident.number);
        }
        let warps = &mut resident.warps;
        let mut has_moved = false;
        for place in 0..warps.len() {
            let idx = self.turns.number(place as u32, warps.len() as u32) as usize;
            let warp = &mut warps[idx];
            if warp.live == 0 || warp.next_group().is_none() {
                continue;
            }
            has_moved = true;
            match self.turn(warp)? {
                Pause::Ended => {
                    resident.left -= 1;
                    self.end_warp(warp)?;
                }
                Pause::Turn | Pause::Waits => {}
            }
            self.open_barriers(warps)?;
        }
        if !has_moved && 0 < resident.left {
            self.open_barriers(warps)?;
            let stuck = warps.iter().find(|it| it.live != 0);
            if let Some(warp) = stuck.filter(|it| it.next_group().is_none())
                && warps.iter().all(|it| it.next_group().is_none())
            {
                return Err(self.deadlock(warp));
            }
        }
        self.swap(resident);
        let has_ended = resident.left == 0;
        if O::IS_WATCHING && has_ended {
            self.observer.ends();
        }
        Ok(has_ended)
    }

    fn deadlock(&self, warp: &Warp) -> Box<Finding> {
        let group = warp.groups.iter().min_by_key(|it| it.at);
        let (at, lanes) = group.map_or((0, 1), |it| (it.at, it.lanes));
        let is_rest = group.is_some_and(|it| it.waits == Waits::Rest);
        let other = warp.groups.iter().find(|it| it.at != at);
        let fault = match other {
            Some(other) if is_rest => Fault::DivergedBarrier {
                other: self.kernel.steps[other.at as usize].line,
            },
            _ if group.is_some_and(|it| it.waits == Waits::Warp) => Fault::MissingThreads {
                members: u32::MAX,
                missing: warp.live & !lanes,
            },
            _ => Fault::Deadlock,
        };
        self.finding((fault, lanes.trailing_zeros()), warp, at)
    }

    /// Makes a block ready to run.
    pub(crate) fn begin(&mut self, resident: &mut Resident) {
        self.swap(resident);
        let warps = &mut resident.warps;
        resident.left = warps.len();
        if O::IS_WATCHING {
            self.observer.block(self.number, warps.len() as u32);
        }
        let launch = self.launch;
        let threads = launch.threads();
        let position = launch.block_position(self.number);
        self.arrived = [0; 16];
        // What nobody wrote is no zero by chance.
        self.shared.clear();
        self.shared
            .resize(launch.shared_span(self.kernel) as usize, 0xa5);
        if self.is_watched {
            self.precedence.begin_block(self.number, warps.len());
            self.shared_shadow
                .begin(self.shared.len(), self.kernel.granules[0]);
            for gap in &self.kernel.shared_gaps {
                self.shared_shadow.close(gap.clone());
            }
        }
        for warp in warps {
            let rest = threads - warp.number * 32;
            warp.begin(if 32 <= rest {
                u32::MAX
            } else {
                (1 << rest) - 1
            });
            specials::place(warp, self.kernel, (self.number, self.turns), position);
        }
        self.swap(resident);
    }

    fn end_warp(&mut self, warp: &mut Warp) -> Result<(), Box<Finding>> {
        if let Some(copy) = warp.copies.first() {
            let copies = warp.copies.len() as u32;
            let lane = copy.lanes.trailing_zeros();
            let line = copy.line;
            let mut finding = self.finding((Fault::LeftInFlight { copies }, lane), warp, 0);
            finding.line = Line(line);
            return Err(finding);
        }
        Ok(())
    }

    /// Lets a warp go on until it waits, has ended, or its turn is over.
    #[inline(always)]
    fn turn(&mut self, warp: &mut Warp) -> Result<Pause, Box<Finding>> {
        let turn = if O::IS_WATCHING { WATCHED_TURN } else { TURN };
        for _ in 0..turn {
            let Some(idx) = warp.next_group() else {
                return Ok(Pause::Waits);
            };
            let at = warp.groups[idx].at;
            self.time += 1;
            if self.most_steps < self.time {
                let steps = self.most_steps;
                let lane = warp.groups[idx].lanes.trailing_zeros();
                let fault = match is_waiting(self.kernel, at as usize) {
                    true => Fault::WaitsForOthers { steps },
                    false => Fault::TooLong { steps },
                };
                return Err(self.finding((fault, lane), warp, at));
            }
            if let Err(failed) = self.step(warp, idx) {
                return Err(self.finding(failed, warp, at));
            }
            if warp.live == 0 {
                return Ok(Pause::Ended);
            }
            if self.is_over {
                self.is_over = false;
                return Ok(Pause::Turn);
            }
        }
        Ok(Pause::Turn)
    }
}

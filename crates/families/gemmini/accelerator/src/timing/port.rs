//! The accelerator's memory port: reader and writer take turns.
//!
//! As long as no one has to wait, requests go straight through.
//!
//! *Source*: Gemmini, `StreamReaderCore`, `Scratchpad`; Rocket Chip, `TLXbar`.

use super::engine::{COMPLETE, Engine, ISSUE, LOAD, PORT, STORE, Until};
use super::load::Packet;
use crate::ExecContext;
use crate::address::Tile;
use crate::configuration::StoreState;
use crate::isa::Instruction;
use autocomp_riscv::LineAccess;
use autocomp_riscv_machine::Agenda;
use autocomp_riscv_machine::Reply;
use autocomp_riscv_machine::{Client, Kind};

/// Requests that fit between the reader and its turn (RTL: the reader's buffer).
const READS: usize = 2;
/// Places for write packets that wait for the port: as many as can be outstanding.
pub(super) const WRITES: usize = 64;
/// Places for packets that the merger has not put together: more than there can
/// be.
pub(super) const PACKETS: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Read {
    address: u64,
    beats: u64,
    at: u64,
    /// Number of the packet.
    number: u8,
}

impl Read {
    const NONE: Self = Self {
        address: 0,
        beats: 0,
        at: 0,
        number: 0,
    };
}

/// Read requests in the order in which they come: one per packet at most.
type Reads = Agenda<Read, PACKETS>;

/// Takes the oldest request, if it is there in cycle `now`.
#[inline]
fn take_until(reads: &mut Reads, now: u64) -> Option<Read> {
    (reads.next() <= now).then(|| reads.take())
}

#[derive(Clone, Copy, Debug)]
struct Write {
    address: u64,
    kind: Kind,
    beats: u64,
}

impl Write {
    const NONE: Self = Self {
        address: 0,
        kind: Kind::Get,
        beats: 0,
    };
}

/// The last stages of the reader. What the buffer behind them does not take
/// goes round: it is tried again two cycles later, and what comes in between
/// may overtake it.
#[derive(Clone, Debug, Default)]
struct Lane {
    /// The request that is tried in cycle `cycle`, and the one behind it.
    tried: Option<Read>,
    behind: Option<Read>,
    cycle: u64,
}

impl Lane {
    fn is_empty(&self) -> bool {
        self.tried.is_none() && self.behind.is_none()
    }

    /// Lets a cycle pass in which what was tried has been taken (or there was
    /// nothing to try), or not.
    fn pass(&mut self, taken: bool, reads: &mut Reads) {
        self.cycle += 1;
        let again = self.tried.take().filter(|_| !taken);
        self.tried = self.behind.take();
        self.behind = again.or_else(|| take_until(reads, self.cycle + 1));
    }

    /// Lets cycles pass until `now`, in which nothing was taken.
    fn pass_until(&mut self, now: u64, reads: &mut Reads) {
        if self.is_empty() {
            self.cycle = now.min(reads.next());
            self.tried = take_until(reads, self.cycle);
            self.behind = take_until(reads, self.cycle + 1);
        }
        while self.cycle < now && (self.tried.is_none() || self.behind.is_none()) {
            self.pass(false, reads);
        }
        if (now - self.cycle) % 2 == 1 {
            std::mem::swap(&mut self.tried, &mut self.behind);
        }
        self.cycle = now;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Port {
    /// Read requests that are not in the lane yet.
    reads: Reads,
    lane: Lane,
    /// Read requests that wait for a turn, and when the last one had it.
    buffer: Agenda<Read, READS>,
    last_read: u64,
    writes: Agenda<Write, WRITES>,
    /// Requests in all of these.
    waiting: usize,
    free: u64,
    /// When to look at them again.
    look: u64,
    /// The writer had the last turn.
    wrote: bool,
    /// Packets by number, until the merger has put them together, and which
    /// numbers are in use.
    pub(super) packets: [Packet; PACKETS],
    pub(super) outstanding: u64,
}

impl Port {
    pub(super) fn new() -> Self {
        Self {
            reads: Agenda::new(Read::NONE),
            lane: Lane::default(),
            buffer: Agenda::new(Read::NONE),
            last_read: 0,
            writes: Agenda::new(Write::NONE),
            waiting: 0,
            free: 0,
            look: u64::MAX,
            wrote: false,
            packets: [Packet::default(); PACKETS],
            outstanding: 0,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting == 0
    }

    /// Returns the write packets that wait for the port.
    #[inline]
    pub(super) fn writes_waiting(&self) -> usize {
        self.writes.len()
    }

    /// Lets the reader try a request, or the buffer take it if it is sure to.
    #[inline]
    fn put_read(&mut self, read: Read) {
        // What is in the buffer by now is all that can be there then.
        if self.buffer.len() == READS {
            self.reads.push_back(read.at, read);
            return;
        }
        self.look = self.look.min(read.at);
        if self.reads.len() == 0 && self.lane.is_empty() {
            self.buffer.push_back(read.at, read);
        } else {
            self.reads.push_back(read.at, read);
        }
    }

    /// Lets the buffer take what the reader tries in cycle `now`.
    fn take_read(&mut self, now: u64) {
        self.lane.pass_until(now, &mut self.reads);
        if let Some(read) = self.lane.tried
            && now >= self.room_for_read()
        {
            self.buffer.push_back(read.at, read);
            self.lane.pass(true, &mut self.reads);
        }
    }

    /// Returns the cycle from which on the buffer takes a request, which is `u64::MAX`
    /// until a turn makes room: a place that is left in one cycle is seen to be free
    /// in the next.
    #[inline]
    fn room_for_read(&self) -> u64 {
        match self.buffer.len() {
            0 => 0,
            READS.. => u64::MAX,
            _ => self.last_read + 2,
        }
    }

    /// Returns when the buffer may take what the reader tries, behind cycle `now`.
    #[inline]
    fn read_from(&self, now: u64) -> u64 {
        let first = if self.lane.is_empty() {
            self.reads.next()
        } else {
            self.lane.cycle
        };
        first.max(self.room_for_read()).max(now + 1)
    }
}

impl Engine {
    /// The reader wants `beats` beats; the request is at the port in cycle
    /// `at`.
    #[inline]
    pub(super) fn request_read(&mut self, address: u64, beats: u64, at: u64, packet: Packet) {
        let number = self.port.outstanding.trailing_ones() as u8 % PACKETS as u8;
        self.port.packets[usize::from(number)] = packet;
        self.port.outstanding |= 1 << number;
        let read = Read {
            address,
            beats,
            at,
            number,
        };
        // With an idle writer no one else can want the turn, and room that is there for it
        // remains: what is on its way to the L2 only becomes less until then.
        let direct = self.store.is_idle()
            && self.port.is_idle()
            && self.port.free <= at
            && self.memory.is_open(at);
        if direct {
            self.grant_read(read, at);
            self.wake[PORT] = self.wake[PORT].min(at + 1);
        } else {
            self.port.put_read(read);
            self.port.waiting += 1;
            self.wake[PORT] = self.wake[PORT].min(self.port.look);
        }
    }

    /// The writer has a packet whose first beat is at the port in cycle `at`.
    pub(super) fn request_write(&mut self, address: u64, kind: Kind, beats: u64, at: u64) {
        self.port.waiting += 1;
        self.port.look = self.port.look.min(at);
        let write = Write {
            address,
            kind,
            beats,
        };
        self.port.writes.push_back(at, write);
        self.wake[PORT] = self.wake[PORT].min(at);
    }

    #[inline(always)]
    fn grant_read(&mut self, read: Read, at: u64) {
        if self.counts.is_some() {
            self.note_read_wait(read.at, at);
        }
        self.port.free = at + 1;
        self.port.wrote = false;
        self.port.last_read = at;
        let client = Client::Reader(read.number);
        self.memory
            .send(read.address, read.beats, at, Kind::Get, client);
    }

    /// Lets requests through that are due in cycle `now`; returns when to look
    /// again.
    fn step_requests(&mut self, now: u64) -> u64 {
        if self.port.read_from(now - 1) <= now {
            self.port.take_read(now);
        }
        let mut turn = self.turn_from(now);
        if turn <= now {
            self.turn(now);
            turn = self.turn_from(now + 1);
        } else if turn == now + 1 {
            // Less is on its way then.
            turn = self.turn_from(now + 1);
        }
        self.port.read_from(now).min(turn)
    }

    /// Returns the first cycle from `now` on in which a request may have a turn.
    #[inline]
    fn turn_from(&self, now: u64) -> u64 {
        let first = self.port.buffer.next().min(self.port.writes.next());
        if first == u64::MAX {
            return first;
        }
        let at = first.max(self.port.free).max(now);
        if self.memory.is_open(at) {
            at
        } else {
            self.memory.room_from(at)
        }
    }

    /// A request has its turn in cycle `now`.
    fn turn(&mut self, now: u64) {
        self.port.waiting -= 1;
        let at = self.port.writes.next();
        if at <= now && (self.port.buffer.next() > now || !self.port.wrote) {
            let write = self.port.writes.take();
            if let Some(counts) = &mut self.counts {
                counts.write_at_port(at, now, write.beats);
            }
            self.port.free = now + write.beats;
            self.port.wrote = true;
            self.memory
                .send(write.address, write.beats, now, write.kind, Client::Writer);
            self.note_write(now, write.beats);
        } else {
            let read = self.port.buffer.take();
            self.grant_read(read, now);
        }
    }

    /// Lets requests through and the L2 work in cycle `now`, and in those after
    /// it up to the first in which another unit has something to do.
    #[inline(never)]
    pub(super) fn step_port(&mut self, mut now: u64) {
        self.wake[PORT] = u64::MAX;
        let mut bound = self.next_event().min(self.run_limit.saturating_add(1));
        let mut due = self.memory.next_event();
        loop {
            if due <= now {
                self.hold_answers(now);
                if let Some(reply) = self.memory.advance(now) {
                    self.now = now;
                    self.take_reply(&reply);
                    bound = bound.min(self.next_after_reply());
                    debug_assert!(bound <= self.next_event());
                    if reply.client == Client::Core {
                        // Someone waits for that.
                        bound = 0;
                    }
                }
            }
            if self.port.look <= now {
                self.port.look = self.step_requests(now);
                // The writer looks at what got through.
                bound = bound.min(self.wake[STORE]);
                debug_assert!(bound <= self.next_event());
            }
            due = self.memory.next_event();
            let next = self.port.look.min(due);
            let at = next.max(now);
            if at >= bound {
                self.now = now;
                self.wake[PORT] = next;
                return;
            }
            now = at;
        }
    }

    /// Returns the next cycle in which one of the units has something to do that an
    /// answer of the L2 can give something to do.
    #[inline]
    fn next_after_reply(&self) -> u64 {
        let [issue, load] = [ISSUE, LOAD].map(|unit| self.wake[unit]);
        let [store, complete] = [STORE, COMPLETE].map(|unit| self.wake[unit]);
        issue.min(load).min(store.min(complete))
    }

    /// Hands on what the L2 answers.
    #[inline]
    fn take_reply(&mut self, reply: &Reply) {
        match reply.client {
            Client::Reader(number) => {
                if let Some(recording) = &mut self.recording {
                    recording.arrive(reply.sent, reply.first, reply.beats, reply.hit);
                }
                let cycles = reply.last - reply.first;
                let spacing = if cycles < reply.beats {
                    1
                } else {
                    cycles.div_ceil(reply.beats.max(2) - 1)
                };
                self.note_arrival(number, reply.first, spacing);
            }
            Client::Writer => self.note_acknowledgement(reply.first),
            Client::Core => self.core_answer = Some(reply.last),
            Client::Nobody => {}
        }
    }

    /// Notes which bytes a command may move.
    #[inline]
    pub(super) fn expect_moves(&mut self, instruction: &Instruction, context: &ExecContext<'_>) {
        let sharing = &mut self.memory.sharing;
        let rows_to_bytes = |rows: u32, stride: u64, tile: &Tile| {
            let element = if tile.address.is_accumulator() {
                self.config.acc_element_bytes()
            } else {
                self.config.element_bytes()
            };
            u64::from(rows.saturating_sub(1))
                .saturating_mul(stride)
                .saturating_add(u64::from(tile.cols) * u64::from(element))
        };
        match instruction {
            Instruction::Mvin { dram: 0, .. } => {}
            Instruction::Mvin {
                channel,
                dram,
                tile,
            } => {
                let stride = context.configured.load[usize::from(*channel).min(2)].stride;
                sharing.expect(*dram, rows_to_bytes(tile.rows.into(), stride, tile));
            }
            Instruction::Mvout { dram, tile } => {
                let StoreState { stride, pool, .. } = &context.configured.store;
                let rows = if pool.stride == 0 {
                    u32::from(tile.rows).max(u32::from(pool.orows) * u32::from(pool.ocols))
                } else {
                    u32::from(pool.porows) * u32::from(pool.out_dim) + u32::from(pool.pocols)
                };
                sharing.expect(*dram, rows_to_bytes(rows, (*stride).into(), tile));
            }
            Instruction::LoopWs(_) | Instruction::LoopConv(_) => sharing.expect_anything(),
            _ => {}
        }
    }

    /// Returns whether commands that are not done may make the core's data cache
    /// give up or clean lines.
    #[inline]
    #[must_use]
    pub fn shares_lines(&self) -> bool {
        self.memory.sharing.is_shared()
    }

    /// The core wants to access its data cache in cycle `cycle`; returns the
    /// first one from then on in which it has a turn, as far as is known.
    pub fn core_turn(&mut self, cycle: u64) -> u64 {
        self.run_until(cycle.saturating_sub(1));
        if self.next_event() == u64::MAX {
            self.memory.sharing.end_batch();
        }
        self.memory.core_turn(cycle)
    }

    /// The core accesses a line below its L1 caches at `cycle`; returns the
    /// cycle at which the line is usable there.
    pub fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.run_until(cycle);
        let read_before = self.memory.counts.lines_read;
        // The engine may be ahead of the core, which fetches instructions before a
        // command behind which they lie is sent: by how much depends on which
        // units had something to do. What is worked through cannot be changed, but
        // a request that is at the L2 only after that is not late.
        let at = if self.memory.arrival_from_core(cycle) > self.now {
            cycle
        } else {
            self.now
        };
        let usable = match self.memory.core_access(address, access, at) {
            Some(usable) => usable.min(cycle),
            None => {
                self.wake[PORT] = self.wake[PORT].min(self.memory.next_event());
                self.core_answer = None;
                self.run_up_to(Until::Answer);
                self.core_answer.take().unwrap_or(at)
            }
        };
        self.wake[PORT] = self.wake[PORT].min(self.memory.next_event());
        if let Some(recording) = &mut self.recording {
            let outer = self.memory.counts.lines_read != read_before;
            recording.miss(cycle, usable, outer, access);
        }
        usable
    }
}

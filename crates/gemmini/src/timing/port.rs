//! The accelerator's memory port: reader and writer take turns.
//!
//! The L2 takes a request as long as it has a tracker for it. As long as no
//! one has to wait, requests go straight through.

use super::engine::{Engine, PORT};
use super::load::Packet;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Read {
    address: u64,
    beats: u64,
    at: u64,
    packet: Packet,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    address: u64,
    whole: bool,
    beats: u64,
    at: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Port {
    reads: VecDeque<Read>,
    writes: VecDeque<Write>,
    free: u64,
    /// The writer had the last turn.
    wrote: bool,
}

impl Port {
    pub(super) fn new() -> Self {
        Self {
            reads: VecDeque::with_capacity(32),
            writes: VecDeque::with_capacity(32),
            free: 0,
            wrote: false,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }
}

impl Engine {
    /// The reader wants `beats` beats; the request is at the port in cycle
    /// `at`.
    pub(super) fn request_read(&mut self, address: u64, beats: u64, at: u64, packet: Packet) {
        let read = Read {
            address,
            beats,
            at,
            packet,
        };
        let turn = at.max(self.port.free).max(self.memory.ready_from());
        // With an idle writer no one else can want the turn.
        if self.port.is_idle() && (turn == at || self.store.is_idle()) {
            if self.counts.is_some() {
                self.note_read_wait(at, turn);
            }
            self.grant_read(read, turn);
        } else {
            self.port.reads.push_back(read);
            self.wake[PORT] = self.wake[PORT].min(at);
        }
    }

    /// The writer has a packet whose first beat is at the port in cycle `at`.
    pub(super) fn request_write(&mut self, address: u64, whole: bool, beats: u64, at: u64) {
        self.port.writes.push_back(Write {
            address,
            whole,
            beats,
            at,
        });
        self.wake[PORT] = self.wake[PORT].min(at);
    }

    /// Returns the write packets that wait for the port.
    pub(super) fn writes_waiting(&self) -> usize {
        self.port.writes.len()
    }

    #[inline]
    fn grant_read(&mut self, read: Read, at: u64) {
        self.port.free = at + 1;
        self.port.wrote = false;
        let reply = self.memory.read(read.address, read.beats, at);
        if let Some(recording) = &mut self.recording {
            recording.arrive(at, reply.first, read.beats, reply.hit);
        }
        self.note_arrival(read.packet, reply.first, reply.spacing, reply.hit);
    }

    /// Lets requests through that are due in cycle `now`.
    pub(super) fn step_port(&mut self, now: u64) {
        self.wake[PORT] = loop {
            let read = self.port.reads.front().map(|read| read.at);
            let write = self.port.writes.front().map(|write| write.at);
            let Some(first) = [read, write].into_iter().flatten().min() else {
                break u64::MAX;
            };
            let at = first.max(self.port.free).max(self.memory.ready_from());
            if at > now {
                break at;
            }
            let due = |request: Option<u64>| request.is_some_and(|request| request <= at);
            let to_write = due(write) && (!due(read) || !self.port.wrote);
            if to_write {
                let write = self.port.writes.pop_front().expect("just seen");
                if let Some(counts) = &mut self.counts {
                    counts.write_at_port(write.at, at, write.beats);
                }
                self.port.free = at + write.beats;
                self.port.wrote = true;
                let ack = self
                    .memory
                    .write(write.address, write.whole, write.beats, at);
                self.note_write(at, write.beats, ack);
            } else {
                let read = self.port.reads.pop_front().expect("just seen");
                if self.counts.is_some() {
                    self.note_read_wait(read.at, at);
                }
                self.grant_read(read, at);
            }
        };
    }
}

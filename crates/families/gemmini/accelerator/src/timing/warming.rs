//! Functional warming: commands that take no time and leave the L2 and the core's L1
//! as they would if they did.
//!
//! Requests go to the L2 one command after the other, in program order. If time goes
//! on, those of loads and stores are interleaved, so that the L2, which throws out
//! lines at random, holds other ones afterwards; how many, and of which operand, is the
//! same on average.
//!
//! *Source*: Wunderlich and others, "SMARTS: accelerating microarchitecture simulation
//! via rigorous statistical sampling", ISCA 2003.

use super::engine::Engine;
use super::job::{Job, LoadJob, StoreJob, Work, resolve};
use super::load::best_packet;
use super::store::best_put;
use crate::ExecContext;
use crate::isa::Instruction;
use autocomp_riscv::LineAccess;
use autocomp_riscv_machine::Kind;
use std::convert::Infallible;

impl Engine {
    /// Takes a command whose functional effect has just happened and does at once what
    /// it does to caches. The engine must be idle.
    pub fn warm(&mut self, instruction: &Instruction, context: &ExecContext<'_>) {
        let mut job = Job::new();
        match (instruction, context.matmul, context.conv) {
            (Instruction::LoopWs(_), Some(plan), _) => {
                let config = self.config.clone();
                let Ok(()) = plan.expand(&config, &mut |one| self.warm_one(&one, &mut job));
            }
            (Instruction::LoopConv(_), _, Some(plan)) => {
                let config = self.config.clone();
                let Ok(()) = plan.expand(&config, &mut |one| self.warm_one(&one, &mut job));
            }
            _ => {
                let Ok(()) = self.warm_one(instruction, &mut job);
            }
        }
    }

    /// The core accesses the line at `address` below its L1 caches at `cycle`; returns
    /// the cycle at which the line is usable there.
    pub fn warm_line(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.memory.pass_core(address, access, cycle)
    }

    /// Returns whether the core's L1 has to give up or to clean lines.
    #[inline]
    #[must_use]
    pub fn has_probes(&self) -> bool {
        self.memory.has_probes()
    }

    fn warm_one(&mut self, instruction: &Instruction, job: &mut Job) -> Result<(), Infallible> {
        if resolve(instruction, &mut self.configured, &self.sizes, job) {
            match &job.work {
                Work::Load(load) if !load.zero => self.warm_load(load),
                Work::Store(store) if store.writes => self.warm_store(store),
                _ => {}
            }
        }
        Ok(())
    }

    fn warm_load(&mut self, job: &LoadJob) {
        for row in 0..job.rows {
            let (mut address, mut left) = (job.address(row), job.row_bytes);
            while left > 0 {
                let (_, bytes, _) = best_packet(address, left, self.k.beat_bytes, self.k.max_bytes);
                self.memory.pass(address, Kind::Get);
                address = address.wrapping_add(bytes.into());
                left -= bytes;
            }
        }
    }

    fn warm_store(&mut self, job: &StoreJob) {
        for row in 0..job.rows {
            let (mut address, mut left) = (job.address(row), job.bytes);
            while left > 0 {
                let (_, bytes, kind) = best_put(address, left, self.k.beat_bytes, self.k.max_bytes);
                self.memory.pass(address, kind);
                address = address.wrapping_add(bytes.into());
                left -= bytes;
            }
        }
    }
}

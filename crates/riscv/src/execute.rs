//! The interpreter: executes blocks of predecoded instructions.

use crate::access::{atomic, slow_load, slow_store};
use crate::arithmetic as a;
use crate::coprocessor::{Coprocessor, RoccCommand};
use crate::csr::{Counters, number};
use crate::fault::AccessKind;
use crate::float::{FloatForm, FusedForm, execute as execute_float, execute_fused};
use crate::hart::{Exit, Hart, Limits};
use crate::instruction::{DISCARD, Instruction, Operation};
use crate::memory::Memory;
use crate::pipeline::{Pipeline, WRITE_BACK};
use crate::predictor::Transfer;
use crate::trap::Trap;

/// Why a chain of blocks ended.
enum End {
    /// Go on at `Hart::pc`.
    Next,
    /// Stop before `Hart::pc`.
    Stop(Exit),
    /// An instruction raised an exception.
    Trap(Trap),
}

impl Hart {
    pub(crate) fn run_blocks<const TIMED: bool>(
        &mut self,
        memory: &mut Memory,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> Exit {
        loop {
            // A chain ends at `fence.i`, behind which changed code takes effect.
            if memory.take_code_changed() {
                self.code.clear();
            }
            let block_idx = match self.enter(memory) {
                Ok(Some(block_idx)) => block_idx,
                Ok(None) => return Exit::Returned,
                Err(trap) => match self.trap::<TIMED>(trap, limits) {
                    None => continue,
                    Some(exit) => return exit,
                },
            };
            match self.run_chain::<TIMED>(block_idx, memory, coprocessor, limits) {
                End::Next => {}
                End::Stop(exit) => return exit,
                End::Trap(trap) => {
                    if let Some(exit) = self.trap::<TIMED>(trap, limits) {
                        return exit;
                    }
                }
            }
        }
    }

    /// Returns the address of the last instruction of the block that starts at
    /// `pc`, if it has been translated.
    pub(crate) fn block_end(&self, base: u64, pc: u64) -> Option<u64> {
        let block = &self.code.blocks[self.code.find(base, pc)?];
        let last = block.records.get(block.instructions.max(1) as usize - 1)?;
        Some(block.pc + u64::from(last.offset))
    }

    /// Returns the index of the block at `pc`, `None` if the program returned.
    #[inline(always)]
    fn enter(&mut self, memory: &mut Memory) -> Result<Option<usize>, Trap> {
        match self.code.find(memory.base(), self.pc) {
            Some(block_idx) => Ok(Some(block_idx)),
            None => self.enter_new(memory),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_new(&mut self, memory: &mut Memory) -> Result<Option<usize>, Trap> {
        if self.return_address == Some(self.pc) {
            return Ok(None);
        }
        self.code
            .translate(self.pc, memory)
            .map(Some)
            .map_err(|fault| Trap::access(fault, AccessKind::Fetch))
    }

    /// Enters the program's handler, or returns what stops the machine.
    #[cold]
    fn trap<const TIMED: bool>(&mut self, trap: Trap, limits: Limits) -> Option<Exit> {
        let pc = trap.fault.pc;
        self.pc = pc;
        let Some((cause, value)) = trap.handled else {
            return Some(Exit::Fault(*trap.fault));
        };
        let handler = self.csr.mtvec & !3;
        // A handler that traps on its first instruction would do so forever.
        if handler == 0 || handler == pc {
            return Some(Exit::Fault(*trap.fault));
        }
        // Traps count against the limit, so that a program that does nothing
        // but trap ends.
        self.instructions += 1;
        if self.instructions > limits.instructions {
            return Some(Exit::Limit);
        }
        self.reservation = None;
        self.pc = self.csr.enter_trap(pc, cause, value);
        if TIMED {
            self.pipeline.now += 1;
            self.pipeline.flush(self.pc);
        }
        None
    }

    /// Executes blocks from `block_idx` on, as long as the next one is known.
    fn run_chain<const TIMED: bool>(
        &mut self,
        block_idx: usize,
        memory: &mut Memory,
        coprocessor: &mut dyn Coprocessor,
        limits: Limits,
    ) -> End {
        let base = memory.base();
        let mut block_idx = block_idx;
        let x = &mut self.x;
        let f = &mut self.f;
        let pipeline = &mut self.pipeline;
        let mut now = pipeline.now;
        'blocks: loop {
            let block = &self.code.blocks[block_idx];
            let start = block.pc;
            if self.instructions >= limits.instructions || TIMED && now >= limits.cycles {
                self.pc = start;
                pipeline.now = now;
                return End::Stop(Exit::Limit);
            }
            self.instructions += u64::from(block.instructions);
            let mut rest = block.records.iter();
            let Some(mut record) = rest.next() else {
                // Cannot be made; going on at the same place is the harmless answer.
                self.pc = start;
                pipeline.now = now;
                return End::Next;
            };
            if TIMED {
                now = pipeline.enter(now, block.split);
                now = pipeline.issue_first(block, record.uses, now, coprocessor);
            }

            macro_rules! pc {
                ($record:expr) => {
                    start + u64::from($record.offset)
                };
            }
            macro_rules! trap {
                ($trap:expr) => {{
                    // The instruction at fault and those behind it did not retire.
                    self.instructions -= block.instructions_behind(rest.len()) + 1;
                    pipeline.now = now;
                    return End::Trap($trap);
                }};
            }
            macro_rules! follow {
                ($target:expr, $taken:expr) => {{
                    let (target, taken): (u64, bool) = ($target, $taken);
                    let next = if taken { target } else { block.after };
                    // The block that followed last time is tried first.
                    let link = block.links[usize::from(taken)] as usize;
                    if self
                        .code
                        .blocks
                        .get(link)
                        .is_some_and(|linked| linked.pc == next)
                    {
                        block_idx = link;
                        continue 'blocks;
                    }
                    if let Some(next_idx) = self.code.find(base, next) {
                        self.code.blocks[block_idx].links[usize::from(taken)] = next_idx as u32;
                        block_idx = next_idx;
                        continue 'blocks;
                    }
                    self.pc = next;
                    pipeline.now = now;
                    return End::Next;
                }};
            }
            loop {
                use Operation as O;
                let rs1 = x[usize::from(record.rs1)];
                let rs2 = x[usize::from(record.rs2)];
                let rd = usize::from(record.rd);
                let immediate = record.immediate as u64;
                macro_rules! load {
                    ($bytes:literal, $type:ty, $latency:ident, |$value:ident| $extended:expr) => {{
                        let address = rs1.wrapping_add(immediate);
                        let bytes = match memory.load_open::<$bytes>(address) {
                            Some(bytes) => bytes,
                            None => match slow_load(memory, coprocessor, address, pc!(record)) {
                                Ok(bytes) => bytes,
                                Err(trap) => trap!(trap),
                            },
                        };
                        let $value = <$type>::from_le_bytes(bytes);
                        x[rd] = $extended;
                        if TIMED {
                            let latency = pipeline.config.$latency;
                            now = pipeline.load(now, address, record.rd, latency, coprocessor);
                        }
                    }};
                }
                macro_rules! store {
                    ($type:ty, $value:expr) => {{
                        let address = rs1.wrapping_add(immediate);
                        let bytes = ($value as $type).to_le_bytes();
                        if TIMED {
                            now = pipeline.store(now, address, coprocessor);
                        }
                        if !memory.store_open(address, bytes) {
                            if let Err(trap) =
                                slow_store(memory, coprocessor, address, bytes, pc!(record))
                            {
                                trap!(trap);
                            }
                            if memory.take_hook_touched() {
                                // What follows in the block has not happened yet.
                                self.instructions -= block.instructions_behind(rest.len());
                                self.pc = rest.as_slice().first().map_or(start, |next| pc!(next));
                                pipeline.now = now;
                                return End::Stop(Exit::Hook);
                            }
                        }
                    }};
                }
                macro_rules! multiply {
                    ($value:expr, $high:literal, $half:literal) => {{
                        x[rd] = $value;
                        if TIMED {
                            let iterations = pipeline.multiply_iterations(rs1, $high, $half);
                            now = pipeline.muldiv(now, record.rd, iterations);
                        }
                    }};
                }
                macro_rules! divide {
                    ($value:expr, $signed:literal, $half:literal) => {{
                        x[rd] = $value;
                        if TIMED {
                            let iterations = a::divide_iterations(rs1, rs2, $signed, $half);
                            now = pipeline.muldiv(now, record.rd, iterations);
                        }
                    }};
                }
                macro_rules! jump {
                    ($target:expr, $transfer:expr, $taken:expr) => {{
                        let (target, taken): (u64, bool) = ($target, $taken);
                        if TIMED {
                            pipeline.transfer(now, block, target, taken, $transfer);
                        }
                        follow!(target, taken);
                    }};
                }
                match record.operation {
                    O::Constant => x[rd] = immediate,
                    O::Addi => x[rd] = rs1.wrapping_add(immediate),
                    O::Slti => x[rd] = u64::from((rs1 as i64) < immediate as i64),
                    O::Sltiu => x[rd] = u64::from(rs1 < immediate),
                    O::Xori => x[rd] = rs1 ^ immediate,
                    O::Ori => x[rd] = rs1 | immediate,
                    O::Andi => x[rd] = rs1 & immediate,
                    O::Slli => x[rd] = rs1 << (immediate & 63),
                    O::Srli => x[rd] = rs1 >> (immediate & 63),
                    O::Srai => x[rd] = (rs1 as i64 >> (immediate & 63)) as u64,
                    O::Addiw => x[rd] = a::word(rs1.wrapping_add(immediate) as u32),
                    O::Slliw => x[rd] = a::word((rs1 as u32) << (immediate & 31)),
                    O::Srliw => x[rd] = a::word(rs1 as u32 >> (immediate & 31)),
                    O::Sraiw => x[rd] = a::word((rs1 as i32 >> (immediate & 31)) as u32),
                    O::Add => x[rd] = rs1.wrapping_add(rs2),
                    O::Sub => x[rd] = rs1.wrapping_sub(rs2),
                    O::Sll => x[rd] = rs1 << (rs2 & 63),
                    O::Slt => x[rd] = u64::from((rs1 as i64) < rs2 as i64),
                    O::Sltu => x[rd] = u64::from(rs1 < rs2),
                    O::Xor => x[rd] = rs1 ^ rs2,
                    O::Srl => x[rd] = rs1 >> (rs2 & 63),
                    O::Sra => x[rd] = (rs1 as i64 >> (rs2 & 63)) as u64,
                    O::Or => x[rd] = rs1 | rs2,
                    O::And => x[rd] = rs1 & rs2,
                    O::Addw => x[rd] = a::word(rs1.wrapping_add(rs2) as u32),
                    O::Subw => x[rd] = a::word(rs1.wrapping_sub(rs2) as u32),
                    O::Sllw => x[rd] = a::word((rs1 as u32) << (rs2 & 31)),
                    O::Srlw => x[rd] = a::word(rs1 as u32 >> (rs2 & 31)),
                    O::Sraw => x[rd] = a::word((rs1 as i32 >> (rs2 & 31)) as u32),
                    O::Lb => load!(1, i8, subword_load_latency, |value| value as i64 as u64),
                    O::Lh => load!(2, i16, subword_load_latency, |value| value as i64 as u64),
                    O::Lw => load!(4, i32, load_latency, |value| value as i64 as u64),
                    O::Ld => load!(8, u64, load_latency, |value| value),
                    O::Lbu => load!(1, u8, subword_load_latency, |value| value.into()),
                    O::Lhu => load!(2, u16, subword_load_latency, |value| value.into()),
                    O::Lwu => load!(4, u32, load_latency, |value| value.into()),
                    O::Sb => store!(u8, rs2),
                    O::Sh => store!(u16, rs2),
                    O::Sw => store!(u32, rs2),
                    O::Sd => store!(u64, rs2),
                    O::Mul => multiply!(rs1.wrapping_mul(rs2), false, false),
                    O::Mulh => multiply!(a::mulh(rs1, rs2), true, false),
                    O::Mulhsu => multiply!(a::mulhsu(rs1, rs2), true, false),
                    O::Mulhu => multiply!(a::mulhu(rs1, rs2), true, false),
                    O::Mulw => multiply!(a::word(rs1.wrapping_mul(rs2) as u32), false, true),
                    O::Div => divide!(a::div(rs1, rs2), true, false),
                    O::Divu => divide!(a::divu(rs1, rs2), false, false),
                    O::Rem => divide!(a::rem(rs1, rs2), true, false),
                    O::Remu => divide!(a::remu(rs1, rs2), false, false),
                    O::Divw => divide!(a::divw(rs1, rs2), true, true),
                    O::Divuw => divide!(a::divuw(rs1, rs2), false, true),
                    O::Remw => divide!(a::remw(rs1, rs2), true, true),
                    O::Remuw => divide!(a::remuw(rs1, rs2), false, true),
                    O::Beq => jump!(immediate, Transfer::Branch, rs1 == rs2),
                    O::Bne => jump!(immediate, Transfer::Branch, rs1 != rs2),
                    O::Blt => jump!(immediate, Transfer::Branch, (rs1 as i64) < rs2 as i64),
                    O::Bge => jump!(immediate, Transfer::Branch, rs1 as i64 >= rs2 as i64),
                    O::Bltu => jump!(immediate, Transfer::Branch, rs1 < rs2),
                    O::Bgeu => jump!(immediate, Transfer::Branch, rs1 >= rs2),
                    O::Jal => {
                        x[rd] = block.after;
                        let call = rd == 1 || rd == 5;
                        jump!(
                            immediate,
                            if call { Transfer::Call } else { Transfer::Jump },
                            true
                        )
                    }
                    O::Jalr => {
                        x[rd] = block.after;
                        let call = rd == 1 || rd == 5;
                        if TIMED && call {
                            let ready = now + pipeline.config.indirect_link_latency;
                            pipeline.produce(rd as u32, ready);
                        }
                        let transfer = match record.rs1 {
                            _ if call => Transfer::IndirectCall,
                            1 | 5 => Transfer::Return,
                            _ => Transfer::Indirect,
                        };
                        jump!(rs1.wrapping_add(immediate) & !1, transfer, true)
                    }
                    O::Custom => {
                        if !self.csr.accelerator_on() {
                            let why = "the accelerator is switched off in mstatus.XS";
                            trap!(Trap::illegal(pc!(record), 0, why));
                        }
                        let flags = record.extra >> 2;
                        let command = RoccCommand {
                            custom: (record.extra & 3) as u8,
                            funct: record.immediate as u8,
                            rs1: if flags & 2 != 0 { rs1 } else { 0 },
                            rs2: if flags & 1 != 0 { rs2 } else { 0 },
                            wants_reply: flags & 4 != 0,
                            pc: pc!(record),
                            cycle: if TIMED { now + WRITE_BACK } else { 0 },
                        };
                        match coprocessor.execute(command, memory) {
                            Ok(reply) => {
                                x[rd] = reply.value;
                                if TIMED {
                                    let issued = now.max(reply.accepted.saturating_sub(WRITE_BACK));
                                    pipeline.statistics.accelerator_wait_cycles += issued - now;
                                    now = issued;
                                    pipeline.custom(now);
                                    if command.wants_reply {
                                        pipeline.produce((rd & 31) as u32, reply.value_ready);
                                    }
                                }
                            }
                            Err(fault) => trap!(Trap {
                                handled: None,
                                fault: Box::new(fault)
                            }),
                        }
                    }
                    O::Flw | O::Fld | O::Fsw | O::Fsd | O::Float | O::Fused => {
                        if !self.csr.float_on() {
                            let why = "the floating-point unit is switched off in mstatus.FS";
                            trap!(Trap::illegal(pc!(record), 0, why));
                        }
                        match record.operation {
                            O::Flw | O::Fld => {
                                let address = rs1.wrapping_add(immediate);
                                let pc = pc!(record);
                                let loaded = if record.operation == O::Fld {
                                    slow_load(memory, coprocessor, address, pc)
                                        .map(u64::from_le_bytes)
                                } else {
                                    slow_load(memory, coprocessor, address, pc).map(|bytes| {
                                        u64::from(u32::from_le_bytes(bytes)) | !0 << 32
                                    })
                                };
                                match loaded {
                                    Ok(bits) => f[rd & 31] = bits,
                                    Err(trap) => trap!(trap),
                                }
                                if TIMED {
                                    let latency = pipeline.config.float_load_latency;
                                    let register = 32 + (rd as u32 & 31);
                                    now = pipeline.read(now, address, coprocessor);
                                    pipeline.produce(register, now + latency);
                                }
                            }
                            O::Fsw => store!(u32, f[usize::from(record.rs2 & 31)]),
                            O::Fsd => store!(u64, f[usize::from(record.rs2 & 31)]),
                            _ => {
                                let (a, b) = (
                                    f[usize::from(record.rs1 & 31)],
                                    f[usize::from(record.rs2 & 31)],
                                );
                                let (frm, flags) = (self.csr.frm, self.csr.fflags);
                                let fused = record.operation == O::Fused;
                                let form = FloatForm::unpack(record.extra);
                                let outcome = if fused {
                                    let c = f[record.immediate as usize & 31];
                                    execute_fused(
                                        FusedForm::unpack(record.extra),
                                        a,
                                        b,
                                        c,
                                        frm,
                                        flags,
                                    )
                                } else {
                                    execute_float(form, a, b, rs1, frm, flags)
                                };
                                let Some((bits, raised)) = outcome else {
                                    let why = format!("rounding mode {frm} in frm is reserved");
                                    trap!(Trap::illegal(pc!(record), 0, &why));
                                };
                                self.csr.raise(raised);
                                if fused || form.writes_float() {
                                    f[rd & 31] = bits;
                                } else {
                                    x[rd] = bits;
                                }
                                if TIMED {
                                    now = pipeline.float(now, form, fused, record.rd & 31);
                                }
                            }
                        }
                    }
                    O::LrW | O::LrD | O::ScW | O::ScD | O::AmoW | O::AmoD => {
                        let pc = pc!(record);
                        let done = atomic(
                            memory,
                            coprocessor,
                            &mut self.reservation,
                            record,
                            rs1,
                            rs2,
                            pc,
                        );
                        match done {
                            Ok(value) => x[rd] = value,
                            Err(trap) => trap!(trap),
                        }
                        if TIMED {
                            now = atomic_timing(pipeline, now, record, rs1, coprocessor);
                        }
                        if memory.take_hook_touched() {
                            self.instructions -= block.instructions_behind(rest.len());
                            self.pc = rest.as_slice().first().map_or(start, |next| pc!(next));
                            pipeline.now = now;
                            return End::Stop(Exit::Hook);
                        }
                    }
                    O::Continue => {
                        // Not an instruction: takes back the cycle it was given.
                        now -= u64::from(TIMED);
                        follow!(immediate, true)
                    }
                    O::Fence => {
                        let ask = if TIMED { pipeline.fence(now) } else { 0 };
                        match coprocessor.fence(pc!(record), ask, memory) {
                            Ok(done) => {
                                if TIMED {
                                    pipeline.statistics.fence_wait_cycles += done.max(ask) - now;
                                    now = done.max(ask);
                                    pipeline.take_probes(coprocessor);
                                }
                            }
                            Err(fault) => trap!(Trap {
                                handled: None,
                                fault: Box::new(fault)
                            }),
                        }
                        self.pc = block.after;
                        pipeline.now = now;
                        return End::Next;
                    }
                    O::FenceI => {
                        self.pc = block.after;
                        pipeline.now = now;
                        if TIMED {
                            pipeline.flush(self.pc);
                        }
                        return End::Next;
                    }
                    O::Wfi => {
                        self.pc = block.after;
                        pipeline.now = now;
                        return End::Next;
                    }
                    O::Mret => {
                        self.pc = self.csr.leave_trap();
                        pipeline.now = now;
                        if TIMED {
                            pipeline.flush(self.pc);
                        }
                        return End::Next;
                    }
                    O::Csr => {
                        let csr = record.immediate as u16;
                        let counters = Counters {
                            cycle: if TIMED { now } else { self.instructions },
                            instret: self.instructions,
                        };
                        let operand = if record.extra & 4 == 0 {
                            rs1
                        } else {
                            record.rs1.into()
                        };
                        let kind = record.extra & 3;
                        let writes = kind == 1 || record.rs1 != 0;
                        let old = self.csr.read(csr, counters);
                        let restart = match (old, writes) {
                            (None, _) => None,
                            (Some(_), false) => Some(false),
                            (Some(old), true) => {
                                let value = match kind {
                                    1 => operand,
                                    2 => old | operand,
                                    _ => old & !operand,
                                };
                                self.csr.write(csr, value, counters)
                            }
                        };
                        let (Some(old), Some(restart)) = (old, restart) else {
                            let why =
                                format!("control register {csr:#x} does not exist or is read-only");
                            trap!(Trap::illegal(pc!(record), 0, &why));
                        };
                        x[rd] = old;
                        self.pc = block.after;
                        if TIMED {
                            if rd != usize::from(DISCARD) {
                                let ready = now + pipeline.config.csr_latency;
                                pipeline.produce(rd as u32, ready);
                            }
                            pipeline.now = now;
                            if restart {
                                pipeline.flush(self.pc);
                            }
                        }
                        if self.stop_on_scratch && writes && csr == number::MSCRATCH {
                            return End::Stop(Exit::Scratch(self.csr.mscratch));
                        }
                        return End::Next;
                    }
                    O::Ecall => trap!(Trap::environment_call(pc!(record))),
                    O::Ebreak => trap!(Trap::breakpoint(pc!(record))),
                    O::Illegal => {
                        let bits = immediate;
                        let why = format!("{bits:#010x} is no RV64GC instruction");
                        trap!(Trap::illegal(pc!(record), bits, &why));
                    }
                }
                // Every block ends with a record that leaves it.
                let Some(next) = rest.next() else {
                    self.pc = start;
                    pipeline.now = now;
                    return End::Next;
                };
                record = next;
                if TIMED {
                    now = pipeline.issue(record.uses, || pc!(record), now, coprocessor);
                }
            }
        }
    }
}

fn atomic_timing(
    pipeline: &mut Pipeline,
    now: u64,
    record: &Instruction,
    address: u64,
    coprocessor: &mut dyn Coprocessor,
) -> u64 {
    let issue = pipeline.store(now, address, coprocessor);
    let latency = pipeline.config.subword_load_latency;
    pipeline.load(issue, address, record.rd, latency, coprocessor)
}

//! The steps of the interpreter: a function for every operation.

mod access;
mod clock;
mod float;
mod frequent_steps;
mod integer;
mod pair;
mod system;
mod transfer;
mod two;
mod vector;

pub(crate) use clock::{clock_of, fetch as fetch_of_clock};
pub(crate) use pair::step_of_pair;
pub(crate) use transfer::{enter, unlinked};
pub(crate) use two::step_of_two;

use crate::float::{FloatForm, FloatOperation, FusedForm};
use crate::instruction::{FLOAT_UNIT, Instruction, Operation};
use crate::predictor::Transfer;
use crate::record::{Below, Core, Ending, Entry, How, Record, Step};
use crate::schedule::STACK_POINTER;
use crate::trap::Trap;

/// Who needs what a load brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    /// Nobody who can come too early.
    Nobody,
    /// Somebody may have to wait for it.
    Any,
    /// The next instruction has to, which a record between them says.
    Next,
}

/// Returns the step of `instruction`; `user` is who needs what it loads.
pub(crate) fn step_of(instruction: &Instruction, timed: bool, user: User) -> Step {
    match (timed, user) {
        (false, _) => choose::<false, { access::NOBODY }>(instruction),
        (true, User::Nobody) => choose::<true, { access::NOBODY }>(instruction),
        (true, User::Any) => choose::<true, { access::ANY }>(instruction),
        (true, User::Next) => choose::<true, { access::NEXT }>(instruction),
    }
}

#[rustfmt::skip]
fn choose<const TIMED: bool, const USER: u8>(instruction: &Instruction) -> Step {
    use Operation as O;
    match instruction.operation {
        O::Illegal => system::illegal::<TIMED>,
        O::Continue => transfer::go_on::<TIMED>,
        O::Constant => integer::constant::<TIMED>,
        O::Jal | O::Jalr => jump::<TIMED>(instruction),
        O::Beq => transfer::beq::<TIMED, false>,
        O::Bne => transfer::bne::<TIMED, false>,
        O::Blt => transfer::blt::<TIMED, false>,
        O::Bge => transfer::bge::<TIMED, false>,
        O::Bltu => transfer::bltu::<TIMED, false>,
        O::Bgeu => transfer::bgeu::<TIMED, false>,
        O::Lb => access::lb::<TIMED, USER>,
        O::Lh => access::lh::<TIMED, USER>,
        O::Lw => access::lw::<TIMED, USER>,
        O::Ld => access::ld::<TIMED, USER>,
        O::Lbu => access::lbu::<TIMED, USER>,
        O::Lhu => access::lhu::<TIMED, USER>,
        O::Lwu => access::lwu::<TIMED, USER>,
        O::Sb => access::sb::<TIMED>,
        O::Sh => access::sh::<TIMED>,
        O::Sw => access::sw::<TIMED>,
        O::Sd => access::sd::<TIMED>,
        O::Addi => integer::addi::<TIMED>,
        O::Slti => integer::slti::<TIMED>,
        O::Sltiu => integer::sltiu::<TIMED>,
        O::Xori => integer::xori::<TIMED>,
        O::Ori => integer::ori::<TIMED>,
        O::Andi => integer::andi::<TIMED>,
        O::Slli => integer::slli::<TIMED>,
        O::Srli => integer::srli::<TIMED>,
        O::Srai => integer::srai::<TIMED>,
        O::Addiw => integer::addiw::<TIMED>,
        O::Slliw => integer::slliw::<TIMED>,
        O::Srliw => integer::srliw::<TIMED>,
        O::Sraiw => integer::sraiw::<TIMED>,
        O::Add => integer::add::<TIMED>,
        O::Sub => integer::sub::<TIMED>,
        O::Sll => integer::sll::<TIMED>,
        O::Slt => integer::slt::<TIMED>,
        O::Sltu => integer::sltu::<TIMED>,
        O::Xor => integer::xor::<TIMED>,
        O::Srl => integer::srl::<TIMED>,
        O::Sra => integer::sra::<TIMED>,
        O::Or => integer::or::<TIMED>,
        O::And => integer::and::<TIMED>,
        O::Addw => integer::addw::<TIMED>,
        O::Subw => integer::subw::<TIMED>,
        O::Sllw => integer::sllw::<TIMED>,
        O::Srlw => integer::srlw::<TIMED>,
        O::Sraw => integer::sraw::<TIMED>,
        O::Mul => integer::mul::<TIMED>,
        O::Mulh => integer::mulh::<TIMED>,
        O::Mulhsu => integer::mulhsu::<TIMED>,
        O::Mulhu => integer::mulhu::<TIMED>,
        O::Div => integer::div::<TIMED>,
        O::Divu => integer::divu::<TIMED>,
        O::Rem => integer::rem::<TIMED>,
        O::Remu => integer::remu::<TIMED>,
        O::Mulw => integer::mulw::<TIMED>,
        O::Divw => integer::divw::<TIMED>,
        O::Divuw => integer::divuw::<TIMED>,
        O::Remw => integer::remw::<TIMED>,
        O::Remuw => integer::remuw::<TIMED>,
        O::Sh1add => integer::sh1add::<TIMED>,
        O::Sh2add => integer::sh2add::<TIMED>,
        O::Sh3add => integer::sh3add::<TIMED>,
        O::AddUw => integer::add_uw::<TIMED>,
        O::Sh1addUw => integer::sh1add_uw::<TIMED>,
        O::Sh2addUw => integer::sh2add_uw::<TIMED>,
        O::Sh3addUw => integer::sh3add_uw::<TIMED>,
        O::SlliUw => integer::slli_uw::<TIMED>,
        O::Andn => integer::andn::<TIMED>,
        O::Orn => integer::orn::<TIMED>,
        O::Xnor => integer::xnor::<TIMED>,
        O::Clz => integer::clz::<TIMED>,
        O::Clzw => integer::clzw::<TIMED>,
        O::Ctz => integer::ctz::<TIMED>,
        O::Ctzw => integer::ctzw::<TIMED>,
        O::Cpop => integer::cpop::<TIMED>,
        O::Cpopw => integer::cpopw::<TIMED>,
        O::Max => integer::max::<TIMED>,
        O::Maxu => integer::maxu::<TIMED>,
        O::Min => integer::min::<TIMED>,
        O::Minu => integer::minu::<TIMED>,
        O::SextB => integer::sext_b::<TIMED>,
        O::SextH => integer::sext_h::<TIMED>,
        O::ZextH => integer::zext_h::<TIMED>,
        O::Rol => integer::rol::<TIMED>,
        O::Rolw => integer::rolw::<TIMED>,
        O::Ror => integer::ror::<TIMED>,
        O::Rorw => integer::rorw::<TIMED>,
        O::OrcB => integer::orc_b::<TIMED>,
        O::Rev8 => integer::rev8::<TIMED>,
        O::Bclr => integer::bclr::<TIMED>,
        O::Bext => integer::bext::<TIMED>,
        O::Binv => integer::binv::<TIMED>,
        O::Bset => integer::bset::<TIMED>,
        O::Fence => system::fence::<TIMED>,
        O::FenceI => system::fence_i::<TIMED>,
        O::Ecall => system::ecall::<TIMED>,
        O::Ebreak => system::ebreak::<TIMED>,
        O::Mret => system::mret::<TIMED>,
        O::Wfi => system::wfi::<TIMED>,
        O::Csr => system::csr::<TIMED>,
        O::LrW | O::LrD | O::ScW | O::ScD | O::AmoW | O::AmoD => access::atomic::<TIMED>,
        O::Custom => system::custom::<TIMED>,
        O::Flw => access::flw::<TIMED, USER>,
        O::Fld => access::fld::<TIMED, USER>,
        O::Fsw => access::fsw::<TIMED>,
        O::Fsd => access::fsd::<TIMED>,
        O::Flh => access::flh::<TIMED, USER>,
        O::Fsh => access::fsh::<TIMED>,
        O::Half => float::half::<TIMED>,
        O::HalfFused => float::half_fused::<TIMED>,
        O::Vector => vector::step_of::<TIMED>(instruction.immediate as u32),
        O::Fused => fused::<TIMED>(FusedForm::unpack(instruction.extra)),
        O::Float => float::<TIMED>(FloatForm::unpack(instruction.extra)),
    }
}

fn jump<const TIMED: bool>(instruction: &Instruction) -> Step {
    match Transfer::of(instruction.operation, instruction.rd, instruction.rs1) {
        Some(Transfer::Call) => transfer::jal::<TIMED, true>,
        Some(Transfer::IndirectCall) => transfer::call_indirect::<TIMED>,
        Some(Transfer::Return) => transfer::return_indirect::<TIMED>,
        Some(Transfer::Indirect) => transfer::jump_indirect::<TIMED>,
        _ => transfer::jal::<TIMED, false>,
    }
}

/// Returns the step of a branch or jump that stands alone in the upper half of a fetch
/// group, if it is a direct one: it is not surely foreseen.
pub(crate) fn step_in_upper_half(operation: Operation) -> Option<Step> {
    use Operation as O;
    Some(match operation {
        O::Jal => transfer::upper_jal,
        O::Beq => transfer::upper_beq,
        O::Bne => transfer::upper_bne,
        O::Blt => transfer::upper_blt,
        O::Bge => transfer::upper_bge,
        O::Bltu => transfer::upper_bltu,
        O::Bgeu => transfer::upper_bgeu,
        _ => return None,
    })
}

/// Returns the timed step of a branch that does not stand there, which suits it better if
/// it is `doubted` that the fetch unit foresees it.
pub(crate) fn step_of_branch(operation: Operation, doubted: bool) -> Option<Step> {
    use Operation as O;
    let [step, unsure]: [Step; 2] = match operation {
        O::Beq => [transfer::beq::<true, false>, transfer::beq::<true, true>],
        O::Bne => [transfer::bne::<true, false>, transfer::bne::<true, true>],
        O::Blt => [transfer::blt::<true, false>, transfer::blt::<true, true>],
        O::Bge => [transfer::bge::<true, false>, transfer::bge::<true, true>],
        O::Bltu => [transfer::bltu::<true, false>, transfer::bltu::<true, true>],
        O::Bgeu => [transfer::bgeu::<true, false>, transfer::bgeu::<true, true>],
        _ => return None,
    };
    Some(if doubted { unsure } else { step })
}

fn fused<const TIMED: bool>(form: FusedForm) -> Step {
    let negates = form.negate_product || form.negate_addend;
    match (form.double, negates) {
        _ if !form.is_nearest_even() => float::fused::<TIMED>,
        (false, false) => float::fused_single::<TIMED, false>,
        (false, true) => float::fused_single::<TIMED, true>,
        (true, false) => float::fused_double::<TIMED, false>,
        (true, true) => float::fused_double::<TIMED, true>,
    }
}

fn float<const TIMED: bool>(form: FloatForm) -> Step {
    use FloatOperation as F;
    if let Some(step) = float::step_of_short::<TIMED>(form) {
        return step;
    }
    match (form.operation, form.double) {
        _ if !form.is_nearest_even() => float::float::<TIMED>,
        (F::Add, false) => float::add_single::<TIMED>,
        (F::Subtract, false) => float::subtract_single::<TIMED>,
        (F::Multiply, false) => float::multiply_single::<TIMED>,
        (F::Divide, false) => float::divide_single::<TIMED>,
        (F::SquareRoot, false) => float::root_single::<TIMED>,
        (F::Add, true) => float::add_double::<TIMED>,
        (F::Subtract, true) => float::subtract_double::<TIMED>,
        (F::Multiply, true) => float::multiply_double::<TIMED>,
        (F::Divide, true) => float::divide_double::<TIMED>,
        (F::SquareRoot, true) => float::root_double::<TIMED>,
        _ => float::float::<TIMED>,
    }
}

/// Waits the cycles that the next instruction needs for what the one before
/// it loads, if that has not done so itself.
pub(crate) fn wait_for_load(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    if record.uses & core.pipeline.pending != 0 {
        return wait_for_load_and_others(core, records, now, below);
    }
    let now = now + u64::from(record.extra);
    core.pipeline.stalled_until(now + 1);
    (next.step)(core, &records[1..], now, below)
}

/// Goes on behind a load and the record that says how long the next one waits for it.
#[inline(always)]
fn go_on_with_value(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    let [_, record, next, ..] = records else {
        return lost(core, now);
    };
    if record.uses & core.pipeline.pending != 0 {
        return wait_for_load_and_others(core, &records[1..], now, below);
    }
    let now = now + u64::from(record.extra);
    core.pipeline.stalled_until(now + 1);
    (next.step)(core, &records[2..], now, below)
}

#[inline(never)]
fn wait_for_load_and_others(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    let cycles = u64::from(record.extra);
    let now = core.pipeline.wait_for_load(record.uses, now, cycles);
    (next.step)(core, &records[1..], now, below)
}

/// Stops the program if the instruction before has moved the stack pointer out of the stack.
pub(crate) fn look_at_stack(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    let pointer = core.x[usize::from(STACK_POINTER)];
    if let Some(stack) = core
        .stack
        .as_ref()
        .filter(|stack| !stack.contains(&pointer))
    {
        let trap = Trap::stack_overflow(core.pc_of(record), pointer, stack);
        return core.raise(trap, record, now);
    }
    core.lowest_stack_pointer = core.lowest_stack_pointer.min(pointer);
    (next.step)(core, &records[1..], now, below)
}

/// Fetches the cache line in which the next instruction begins or ends: the instruction's record
/// has the number of that line. Instructions that begin in another line follow it.
pub(crate) fn fetch_line(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    if !core.pipeline.goes_on_in_line(record.immediate) {
        return fetch_other_line(core, records, false, now, below);
    }
    (next.step)(core, &records[1..], now, below)
}

/// The same for the first instruction of a block.
fn fetch_first_line(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    let pc = core.pc_of(record);
    if !core.pipeline.enter_known_line(pc) {
        let split = Entry(record.index).is_split();
        return fetch_other_line(core, records, split, now, below);
    }
    (next.step)(core, &records[1..], now, below)
}

#[inline(never)]
fn fetch_other_line(
    core: &mut Core,
    records: &[Record],
    split: bool,
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, next, ..] = records else {
        return lost(core, now);
    };
    let pc = core.pc_of(record);
    let below_core = &mut *below.coprocessor;
    let now = core
        .pipeline
        .enter_line(record.uses, pc, split, now, below_core);
    (next.step)(core, &records[1..], now, below)
}

/// Waits for the operands of the first record and executes it then.
#[inline(never)]
fn stalled(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    let [record, ..] = records else {
        return lost(core, now);
    };
    match core.pipeline.wait_for_one(record.uses, now) {
        Some(now) => (record.step)(core, records, now, below),
        None => stalled_behind_others(core, records, now, below),
    }
}

/// The same where results of long operations are on their way.
#[inline(never)]
fn stalled_behind_others(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, ..] = records else {
        return lost(core, now);
    };
    match core.pipeline.wait_for_one_of_many(record.uses, now) {
        Some(now) => (record.step)(core, records, now, below),
        None => stalled_by_several(core, records, now, below),
    }
}

#[inline(never)]
fn stalled_by_several(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    let [record, ..] = records else {
        return lost(core, now);
    };
    let now = core.pipeline.wait(record.uses, now);
    let float = record.uses & core.pipeline.pending & FLOAT_UNIT != 0;
    if float && !core.pipeline.float_unit_takes(now + 1) {
        return refused_while_dividing(core, records, now + 1, below);
    }
    (record.step)(core, records, now, below)
}

/// The same again and again, until the floating-point unit has divided.
#[inline(never)]
fn refused_while_dividing(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let [record, ..] = records else {
        return lost(core, now);
    };
    let pc = core.pc_of(record);
    let again = replay_cycles(core, records);
    let behind = transfer_behind(records);
    let mut issue = now;
    loop {
        match &behind {
            Some((ending, transfer)) => {
                core.pipeline.fetched_in_vain(pc, issue, ending, *transfer);
                core.pipeline.fetch_again(pc, issue);
            }
            None => {
                // All but the last time leave nothing behind.
                issue += core.pipeline.refusals(issue, again).saturating_sub(1) * again;
                core.pipeline.fetch_again(pc, issue);
            }
        }
        issue += again;
        if core.pipeline.float_unit_takes(issue) {
            break;
        }
    }
    core.pipeline.stalled_until(issue);
    (record.step)(core, records, issue - 1, below)
}

/// Lets the first instruction issue again, with all behind it, which issued at `now`
/// and was refused in the memory stage.
#[inline(never)]
fn refused(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    let [record, ..] = records else {
        return lost(core, now);
    };
    replayed(core, records, now);
    let now = now + replay_cycles(core, records);
    core.pipeline.stalled_until(now);
    (record.step)(core, records, now - 1, below)
}

/// Returns after how many cycles the first of these instructions issues again if it is
/// refused: one that lies in two fetch groups needs another one.
#[inline(always)]
fn replay_cycles(core: &Core, records: &[Record]) -> u64 {
    let is_split = match records {
        [record, next, ..] => {
            core.pc_of(record) & 2 != 0 && next.halves.wrapping_sub(record.halves) == 2
        }
        _ => false,
    };
    core.pipeline.config.flush_penalty + 1 + u64::from(is_split)
}

/// Notes that the first of these instructions issued at `now`, was refused when it
/// reached write-back, and is fetched again with all behind it. What the fetch unit
/// had guessed about those is not undone.
#[inline(never)]
pub(crate) fn replayed(core: &mut Core, records: &[Record], now: u64) {
    let Some(first) = records.first() else { return };
    let pc = core.pc_of(first);
    if let Some((ending, transfer)) = transfer_behind(records) {
        core.pipeline.fetched_in_vain(pc, now, &ending, transfer);
    }
    core.pipeline.fetch_again(pc, now);
}

/// Returns what is told about the branch or jump that ends the block, if it may have been
/// fetched when the first of these instructions is in write-back.
#[inline(always)]
fn transfer_behind(records: &[Record]) -> Option<(Ending, Transfer)> {
    let first = records.first()?;
    let end = if first.operation.is_load() {
        let distance = usize::from(first.rs2);
        records.get(distance..distance + 2).filter(|_| distance > 0)
    } else {
        records
            .windows(2)
            .take_while(|pair| pair[0].halves.wrapping_sub(first.halves) <= Record::FURTHEST_HALVES)
            .find(|pair| pair[1].operation == Operation::Continue)
    };
    let [last, ending] = end? else { return None };
    let transfer = Transfer::of(last.operation, last.rd, last.rs1)?;
    Some((Ending::of(last, ending), transfer))
}

/// Leaves a block that has no end, which cannot be made; going on at the same
/// place is the harmless answer.
#[cold]
#[inline(never)]
fn lost(core: &mut Core, now: u64) -> How {
    core.pc = core.start;
    core.leave(now, How::Elsewhere)
}

/// Stands at the beginning of every step: takes the first record apart from
/// those behind it, and waits for its operands.
macro_rules! begin {
    ($core:ident, $records:ident, $now:ident, $below:ident) => {{
        let [record, next, ..] = $records else {
            return crate::steps::lost($core, $now);
        };
        crate::steps::wait!(record, $core, $records, $now, $below);
        (record, next, $now + u64::from(TIMED))
    }};
}
/// The same for what mostly waits for one or two operations before it, and for nothing
/// else.
macro_rules! begin_dependent {
    ($core:ident, $records:ident, $now:ident, $below:ident) => {{
        let [record, next, ..] = $records else {
            return crate::steps::lost($core, $now);
        };
        let mut now = $now;
        if TIMED && record.uses & $core.pipeline.pending != 0 {
            match $core.pipeline.wait_for_short_ones(record.uses, now) {
                Some(waited) => now = waited,
                None => {
                    return crate::steps::stalled_by_several($core, $records, now, $below);
                }
            }
        }
        (record, next, now + u64::from(TIMED))
    }};
}
macro_rules! wait {
    ($record:ident, $core:ident, $records:ident, $now:ident, $below:ident) => {
        if TIMED && $record.uses & $core.pipeline.pending != 0 {
            return crate::steps::stalled($core, $records, $now, $below);
        }
    };
}
/// The same for the last instruction of a block.
macro_rules! begin_last {
    ($core:ident, $records:ident, $now:ident, $below:ident) => {{
        let [record, ..] = $records else {
            return crate::steps::lost($core, $now);
        };
        crate::steps::wait!(record, $core, $records, $now, $below);
        (record, $now + u64::from(TIMED))
    }};
}
use {begin, begin_dependent, begin_last, wait};

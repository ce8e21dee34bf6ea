//! Steps that keep time and execute the instruction behind that.

use super::super::frequent_steps::*;
use super::{load, plain, store};
use crate::float::FusedForm;
use crate::instruction::{Instruction, Operation};
use crate::record::Step;
use crate::scoreboard::Sources;

/// Returns the step that keeps time for an instruction and executes it, if there is one for it.
/// It reads these registers.
pub(super) fn step_with(instruction: &Instruction, sources: Sources) -> Option<Step> {
    use Operation as O;
    let [_, second, third] = sources.0;
    let operation = instruction.operation;
    match (second, third) {
        (0, 0) if operation.is_load() => step_with_load(operation),
        (_, 0) => step_with_two(operation),
        _ if operation == O::Fused => step_with_fused(FusedForm::unpack(instruction.extra)),
        _ => None,
    }
}

fn step_with_load(operation: Operation) -> Option<Step> {
    use Operation as O;
    Some(match operation {
        O::Lb => load::<false, 1, Lb>,
        O::Lh => load::<false, 1, Lh>,
        O::Lw => load::<false, 1, Lw>,
        O::Ld => load::<false, 1, Ld>,
        O::Lbu => load::<false, 1, Lbu>,
        O::Lhu => load::<false, 1, Lhu>,
        O::Lwu => load::<false, 1, Lwu>,
        O::Flw => load::<false, 1, Flw>,
        O::Fld => load::<false, 1, Fld>,
        _ => return None,
    })
}

fn step_with_two(operation: Operation) -> Option<Step> {
    use Operation as O;
    Some(match operation {
        O::Constant => plain::<false, 2, Constant>,
        O::Addi => plain::<false, 2, Addi>,
        O::Xori => plain::<false, 2, Xori>,
        O::Ori => plain::<false, 2, Ori>,
        O::Andi => plain::<false, 2, Andi>,
        O::Slli => plain::<false, 2, Slli>,
        O::Srli => plain::<false, 2, Srli>,
        O::Srai => plain::<false, 2, Srai>,
        O::Addiw => plain::<false, 2, Addiw>,
        O::Slliw => plain::<false, 2, Slliw>,
        O::Srliw => plain::<false, 2, Srliw>,
        O::Sltiu => plain::<false, 2, Sltiu>,
        O::Add => plain::<false, 2, Add>,
        O::Sub => plain::<false, 2, Sub>,
        O::Sltu => plain::<false, 2, Sltu>,
        O::Xor => plain::<false, 2, Xor>,
        O::Or => plain::<false, 2, Or>,
        O::And => plain::<false, 2, And>,
        O::Addw => plain::<false, 2, Addw>,
        O::Subw => plain::<false, 2, Subw>,
        O::Sh1add => plain::<false, 2, Sh1add>,
        O::Sh2add => plain::<false, 2, Sh2add>,
        O::Sh3add => plain::<false, 2, Sh3add>,
        O::AddUw => plain::<false, 2, AddUw>,
        O::Mul => plain::<false, 2, Mul>,
        O::Mulw => plain::<false, 2, Mulw>,
        O::Sb => store::<false, Sb>,
        O::Sh => store::<false, Sh>,
        O::Sw => store::<false, Sw>,
        O::Sd => store::<false, Sd>,
        O::Fsw => store::<false, Fsw>,
        O::Fsd => store::<false, Fsd>,
        _ => return None,
    })
}

fn step_with_fused(form: FusedForm) -> Option<Step> {
    let negates = form.negate_product || form.negate_addend;
    match form.double {
        _ if negates || !form.is_nearest_even() => None,
        false => Some(plain::<false, 3, FusedSingle>),
        true => Some(plain::<false, 3, FusedDouble>),
    }
}

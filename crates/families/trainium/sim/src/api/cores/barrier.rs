//! `nisa.core_barrier`.

use std::rc::Rc;

use super::on_one_core;
use crate::api::Value;
use crate::api::{Bound, Device, sizes};
use crate::cores::Meeting;
use crate::diagnostic::{Failure, Outcome};
use crate::trace::{Choice, Engine};

/// `nisa.core_barrier`
pub(in crate::api) fn core_barrier(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let data = bound.view("data")?;
    let value = bound.required("cores")?;
    let engine = match device.choice(bound, Choice::Fixed(Engine::Gpsimd))? {
        Choice::Fixed(engine) => engine,
        Choice::VectorOrScalar | Choice::VectorOrGpsimd => Engine::Vector,
    };
    match sizes(&value).as_deref() {
        // With one core there is nobody to wait for.
        Some([0]) => return Ok(Value::None),
        Some([0, 1]) => {}
        _ => return Err(bound.wrong("cores", "the tuple (0, 1) of cores", &value)),
    }
    if !device.is_on_several_cores() {
        return Err(on_one_core(bound));
    }
    let Some(sharing) = data.storage.sharing.get() else {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!(
                "nisa.core_barrier: `data` is in {}, which the cores do not share",
                data.buffer().name()
            ),
            "make it with nl.ndarray(…, buffer=nl.shared_hbm) in the kernel",
        ));
    };
    let on = [Rc::clone(&data.storage)];
    device.meet(Meeting::Barrier(sharing.place), Vec::new(), &on)?;
    device.wait_for_other(engine, &on)?;
    Ok(Value::None)
}

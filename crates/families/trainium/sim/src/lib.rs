//! Trainium without Trainium: kernels in NKI, both dialects, are interpreted, checked against
//! the documented limits of the device, run on data, and traced for a timing model.
//!
//! Kernels are hostile input: they are read by an interpreter of our own, which knows nothing but
//! the device; every run is bounded in steps, memory and depth, and is deterministic.

mod allocator;
mod api;
pub mod calibrate;
mod capacity;
mod cores;
mod dialect;
mod evaluate;
pub mod feedback;
mod number_maps;
pub mod plain;
pub mod refit;
mod tensor;
pub mod timing;
pub mod trace;

pub use api::{Dialect, KERNEL_MAKERS, Remark, engines_of, interfaces};
pub use autocomp_python::diagnostic;
pub use diagnostic::{Failure, FailureKind};
pub use evaluate::{
    Array, Evaluation, Input, Options, STACK, check_source, evaluate, evaluate_on_this_thread,
    is_python, parse_inputs,
};
pub use tensor::dtype::{Dtype, POISON};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::api::transcendental::{RANGE, exponentials};
    pub use crate::calibrate::timed;
    pub use crate::refit::solved;
    pub use crate::tensor::bits::{Parts, decode, encode, keep, read, write};
    pub use crate::tensor::short::Short;
    pub use crate::trace::Long;
}

//! Tests of the simulated GPU.

mod arithmetic;
mod defects;
mod hostile;
mod kernels;

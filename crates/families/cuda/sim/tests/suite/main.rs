//! Tests of the simulated GPU.

mod arithmetic;
mod defects;
mod fuzz;
mod hostile;
mod kernels;
mod second;

//! Tests of the simulated GPU.

mod arithmetic;
mod calibration;
mod copies;
mod defects;
mod fuzz;
mod hostile;
mod kernels;
mod l2;
mod lasts;
mod loops;
mod machines;
mod ordering;
mod second;
mod throughput;
mod timing;
mod turns;

//! Tests of the rewriter that need no compiler and no GPU.

mod kernels;
mod refusals;
mod rewrites;

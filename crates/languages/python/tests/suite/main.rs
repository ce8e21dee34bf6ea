//! The interpreter, with a language of kernels made up for it.

mod lengths;

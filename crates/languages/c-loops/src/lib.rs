//! Loop nests of C kernels: what the rewriters of several families have in common.
//!
//! A kernel's body is a tree of counted loops, guards and commands; what a
//! command is, the family says ([`Command`]). Addresses are sums of loop
//! variables with coefficients ([`affine::Affine`]). Whether a change of such a
//! tree keeps what is computed is for the family to decide.

pub mod affine;
pub mod casts;
pub mod condition;
pub mod statement;
pub mod syntax;

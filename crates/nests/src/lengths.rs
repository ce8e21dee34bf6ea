//! Vectors as long as is asked for: strips of as many elements as a group of registers holds, by the
//! intrinsics of RISC-V.
//!
//! Every number is computed in the narrowest type that holds it. All vectors of a strip have as many
//! elements, in groups of as many registers as their types need beside the widest.
//!
//! Source: RISC-V Vector Intrinsics, version 1.0.

mod choice;
mod code;
mod convert;
mod float;
mod kind;
mod strip;
mod whole;

pub(crate) use code::{LENGTH, Line, Load, NEXT_LENGTH, Value, interleaved, words};
pub(crate) use kind::{Groups, Kind};
pub(crate) use strip::{Local, Strip};

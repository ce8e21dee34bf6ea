//! Tests of this crate from outside, in one program, which links once.

mod library;
mod scripts;
mod standing;

//! The program with one family that is in no other build: a toy language with
//! a made-up cost. The tests run it to show that a new kind of target needs
//! nothing outside its own folder.

mod family;
mod language;

use std::process::ExitCode;

fn main() -> ExitCode {
    autocomp::run(&[&family::Toy])
}

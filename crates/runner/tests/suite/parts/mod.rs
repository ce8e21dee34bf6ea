//! Parts of the crate one by one.

mod crews;
mod lessons;

//! Tests of the rewriter that need no compiler and no simulator, in one program, which links once.

mod elements;
mod groups;
mod limits;
mod segments;

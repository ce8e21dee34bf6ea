//! Parts of the memory system one by one.

mod agendas;
mod intakes;
mod memory;
mod outer_memory;
mod pipelines;
mod rings;
mod sharing;
mod turns;

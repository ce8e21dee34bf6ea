//! Parts of the accelerator one by one.

mod agendas;
mod arithmetic;
mod calendars;
mod counters;
mod hazards;
mod instances;
mod instructions;
mod intakes;
mod memory;
mod norms;
mod outer_memory;
mod outlets;
mod packets;
mod pipelines;
mod products;
mod races;
mod recordings;
mod rings;
mod rows;
mod sharing;
mod spans;
mod tags;
mod turns;

//! Parts of the accelerator one by one.

mod arithmetic;
mod calendars;
mod counters;
mod hazards;
mod instances;
mod instructions;
mod norms;
mod outlets;
mod packets;
mod products;
mod races;
mod recordings;
mod rows;
mod spans;
mod tags;

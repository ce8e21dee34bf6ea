//! The proposer against local servers: what it asks, what it accepts, whom it asks next.

mod asking;
use crate::chat;
mod models;
mod prompts;
mod servers;
mod toy;

//! Beam search as a pure state machine: events in, tasks out.

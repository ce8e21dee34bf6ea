//! Executes search tasks concurrently and journals their outcomes.

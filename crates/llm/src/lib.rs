//! Language-model providers, retry, budgets, recording.

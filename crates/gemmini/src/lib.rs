//! The Gemmini accelerator: bit-exact function and cycle model.

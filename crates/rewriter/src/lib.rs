//! Schedule rewriter: source transformations that need no model.

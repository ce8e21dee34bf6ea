//! Child processes under limits; reports what was enforced.

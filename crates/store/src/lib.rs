//! Run folders: an SQLite journal of events and content-addressed blobs.

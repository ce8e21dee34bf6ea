//! Targets and problems as folders of data, built in or a user's own.

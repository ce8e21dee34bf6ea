//! Where the cost of a kernel goes, in the form that all families share.

use crate::timeline::Timeline;
use autocomp_core::Evaluation;
use serde::{Deserialize, Serialize};

/// A part of a profile that people read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The heading; none for what stands above all of them.
    pub title: Option<String>,
    /// Lines of at most 96 characters, each with its line end.
    pub text: String,
}

/// Where the cost of a kernel goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// What people read, in order.
    pub sections: Vec<Section>,
    /// The same as data; the family's document lists the fields.
    pub data: serde_json::Value,
    /// What happened when, if the family knows.
    pub timeline: Option<Timeline>,
}

/// What profiling a kernel gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Profiled {
    /// The kernel is right; this is where its cost goes.
    Right(Box<Profile>),
    /// The kernel is not right, and there is nothing to profile.
    Failed(Box<Evaluation>),
}

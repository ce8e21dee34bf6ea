//! Where the cost of a kernel goes, in the form that all families share.

use crate::text::grouped;
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

/// Says what a call that takes `now` would take without some costs, by experiment: the costs, in
/// words that begin with "if", with what is left. There is nothing to say of none.
pub fn gains<'a>(
    now: u64,
    unit: &str,
    without: impl Iterator<Item = (&'a str, u64)>,
) -> Option<Section> {
    let line = |(cost, left): (&str, u64)| {
        let gain = now as f64 / left.max(1) as f64;
        format!("{:>12} {unit} ({gain:.2}x)  {cost}\n", grouped(left))
    };
    let text: String = without.map(line).collect();
    (!text.is_empty()).then(|| Section {
        title: Some("what would be gained".into()),
        text,
    })
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

//! What a comparison with the problem's own kernel on a device says of a kernel.

use crate::statistics::median;
use autocomp_core::{Cost, Diagnostic, Feedback, Measurement, Outcome, Ratio};
use autocomp_eval::profile::{Profile, Section};
use autocomp_eval::{BuiltIn, Sentences, Verdict};
use std::collections::BTreeMap;

/// All sentences.
static SENTENCES: BuiltIn<Sentences> = BuiltIn::new(include_str!("sentences.toml"));

/// Times of a right kernel beside those of the problem's own.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Nanoseconds of a call of the kernel, of each measurement; at least one.
    pub candidate_ns: &'a [f64],
    /// Lower end of the interval of the ratio of its time to that of the problem's own kernel, its
    /// median, and the upper end.
    pub ratio: [f64; 3],
}

impl Compared<'_> {
    /// Says how long the kernel takes on `device`, how many nanoseconds are simulated, and that
    /// `machine`, which simulates, tells the rest.
    #[must_use]
    pub fn words(&self, device: &str, simulated_ns: f64, machine: &str) -> String {
        let ns = format!("{:.0}", median(self.candidate_ns));
        let ratio = format!("{:.3}", self.ratio[1]);
        let mut said = SENTENCES.paragraph();
        said.say(
            "measured",
            &[("ns", &ns), ("device", &device), ("ratio", &ratio)],
        );
        said.say("simulated", &[("ns", &format!("{simulated_ns:.0}"))]);
        said.say("limits", &[("machine", &machine)]);
        said.text()
    }

    /// Returns the verdict by `engine`, with these `words` and whatever else is `told`. No right
    /// kernel costs less than `floor`.
    #[must_use]
    pub fn verdict(
        &self,
        engine: &str,
        (floor, compiler): (Cost, String),
        figures: BTreeMap<String, u64>,
        (words, told): (String, Vec<Diagnostic>),
    ) -> Verdict {
        let [low, value, high] = self.ratio;
        let ns = median(self.candidate_ns);
        let spread = ((high - low) / 2.0 / value * 1e6).clamp(0.0, 1e6);
        let cost = Cost::nanoseconds(ns.round().max(1.0) as u64, spread as u32);
        Verdict {
            outcome: Outcome::Ok,
            diagnostics: told,
            measurement: Some(Measurement {
                cost,
                floor,
                percent_of_peak: floor.percent_of(cost),
                samples: self.candidate_ns.iter().map(|it| *it as u64).collect(),
                ratio_to_baseline: Some(Ratio { value, low, high }),
                engine: engine.to_owned(),
                compiler,
                figures,
            }),
            feedback: Some(Feedback {
                bottleneck: words,
                counters: BTreeMap::new(),
                lines: Vec::new(),
            }),
        }
    }
}

/// Returns the profile that says these `words`, with `data` for programs.
#[must_use]
pub fn measured_profile(words: &str, data: serde_json::Value) -> Profile {
    Profile {
        sections: vec![Section {
            title: None,
            text: format!("{words}\n"),
        }],
        data,
        timeline: None,
    }
}

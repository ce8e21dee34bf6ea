//! Where costs are measured.

use crate::names::token;
use autocomp_eval::BenchFacts;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of a machine's equal devices. Shown as `MACHINE/NUMBER`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The machine.
    pub machine: String,
    /// The device, counted from 0.
    pub device: u32,
}

impl Place {
    /// Returns where a bench with `facts` on `machine` measures; nothing if it simulates.
    #[must_use]
    pub fn of(facts: &BenchFacts, machine: &str) -> Option<Self> {
        facts.device.map(|device| Self {
            machine: token(machine),
            device,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.machine, self.device)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('/');
        let place = parts.and_then(|(machine, device)| {
            Some(Self {
                machine: (token(machine) == machine).then(|| machine.to_owned())?,
                device: device.parse().ok()?,
            })
        });
        place.ok_or_else(|| format!("`{text}` is no device of a machine (`MACHINE/NUMBER`)"))
    }
}

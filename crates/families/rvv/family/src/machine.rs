//! What a machine file of a target says.

use autocomp_riscv::{
    Agnostic, CoreConfig, Extensions, FirstLoads, Hart, Mode, ScoreboardConfig, VectorUnit,
};
use serde::Deserialize;

/// A machine: `machines/NAME.toml` of a target.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is, in a sentence.
    pub description: String,
    /// Cycles in a microsecond.
    pub megahertz: u64,
    /// Its core.
    pub core: ScoreboardConfig,
}

impl Machine {
    /// Reads a machine file.
    ///
    /// # Errors
    /// A sentence for people: what is wrong with the text or with what it says.
    pub fn parse(text: &str) -> Result<Self, String> {
        let machine: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        machine.core.check()?;
        if machine.core.vector.is_none() {
            return Err(
                "`core.vector` is missing: kernels of this family need a vector unit".into(),
            );
        }
        Ok(machine)
    }

    /// Returns a core of this machine with registers of `vlen` bits. What a program must not rely
    /// on is poisoned unless time is kept, as on hardware. Loads that end at the first fault load what
    /// `first_loads` says.
    #[must_use]
    pub fn hart(&self, mode: Mode, vlen: usize, first_loads: FirstLoads) -> Hart {
        let half = self.core.vector.as_ref().is_some_and(|unit| unit.half);
        let agnostic = match mode {
            Mode::Functional => Agnostic::Ones,
            Mode::Timed => Agnostic::Undisturbed,
        };
        let unit = VectorUnit::new(vlen, half, agnostic)
            .with_alignment()
            .with_first_loads(first_loads);
        Hart::new(&CoreConfig::plain(), mode)
            .with_vectors(unit)
            .with_extensions(Extensions {
                bits: true,
                half: true,
            })
            .with_scoreboard(&self.core)
    }

    /// Returns the bits of a vector register.
    #[must_use]
    pub fn vlen(&self) -> usize {
        self.core.vector.as_ref().map_or(128, |unit| unit.vlen)
    }
}

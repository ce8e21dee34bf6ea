//! Machine parameters of a host target: `machines/*.toml`.

use crate::detection::Processor;
use autocomp_catalog::Target;
use autocomp_eval::{EvalError, read_machine};
use autocomp_nests::{Dots, Resources};
use serde::Deserialize;

/// A machine that kernels are compiled for and must be run on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Architecture, as the compiler's triple begins (`x86_64`, `aarch64`).
    pub architecture: String,
    /// Flags that choose the instruction set (`-march=x86-64-v3`).
    pub flags: Vec<String>,
    /// Features that the processor must have, by the names of
    /// [`features`](crate::detection::features).
    pub features: Vec<String>,
    /// Features that are used where the processor has them, each with the
    /// flags that it brings.
    #[serde(default)]
    pub optional: Vec<OptionalFeature>,
    /// Lanes of 32 bits in a vector register.
    pub lanes: u32,
    /// Vector registers.
    pub registers: u32,
}

/// A feature that a machine may have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionalFeature {
    /// Its name, as in [`Machine::features`].
    pub feature: String,
    /// Flags that let kernels use it.
    pub flags: Vec<String>,
}

impl Machine {
    /// Reads the text of `machines/NAME.toml`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let machine: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let optional = machine.optional.iter().flat_map(|it| &it.flags);
        let mut flags = machine.flags.iter().chain(optional);
        // Others name files and programs to the compiler.
        let chooses = |flag: &str| {
            flag.starts_with("-m") && !flag.starts_with("-mllvm") && !flag.contains(['/', ' '])
        };
        let wrong = flags.find(|flag| !chooses(flag));
        match wrong {
            Some(flag) => Err(format!(
                "`flags` may only choose instructions (`-march=…`, `-mtune=…`, `-m…`), not `{flag}`"
            )),
            None => Ok(machine),
        }
    }

    /// Returns which features this computer, which has `features`, lacks.
    #[must_use]
    pub fn missing<'m>(&'m self, features: &[String]) -> Vec<&'m str> {
        let lacks = |name: &&String| !features.contains(name);
        self.features
            .iter()
            .filter(lacks)
            .map(String::as_str)
            .collect()
    }

    /// Returns nothing if `processor` can run kernels for this machine of `target`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] with what is lacking, and the target that fits.
    pub fn check(&self, target: &str, processor: &Processor) -> Result<(), EvalError> {
        let lacking = if self.architecture == processor.architecture {
            self.missing(&processor.features).join(", ")
        } else {
            format!("an {} processor", self.architecture)
        };
        if lacking.is_empty() {
            return Ok(());
        }
        Err(EvalError::Environment {
            message: format!(
                "kernels for {target} cannot run on this computer ({}), which lacks {lacking}",
                match processor.model.as_str() {
                    "" => &processor.architecture,
                    model => model,
                }
            ),
            remedies: match processor.target() {
                Some(name) => vec![format!("choose the target that fits: {name}")],
                None => vec!["use a computer with AVX2 or Neon".into()],
            },
        })
    }

    /// Returns whether kernels may use a feature where the processor has it.
    #[must_use]
    pub fn uses(&self, feature: &str) -> bool {
        let mut optional = self.optional.iter().map(|it| &it.feature);
        self.features.iter().any(|it| it == feature) || optional.any(|it| it == feature)
    }

    /// Returns what schedules may use on a computer that has `features`.
    #[must_use]
    pub fn resources(&self, features: &[String]) -> Resources {
        let has = |name: &str| self.uses(name) && features.iter().any(|it| it == name);
        let known = [
            (has("avx512vnni"), Dots::BytesAvx512),
            (has("avxvnni"), Dots::BytesAvx),
            (self.architecture == "x86_64", Dots::Words),
            (has("dotprod"), Dots::SignedBytes),
        ];
        let dots = known.into_iter().filter(|(there, _)| *there);
        Resources {
            lanes: self.lanes,
            registers: self.registers,
            grouped: false,
            strides: false,
            lengths: false,
            fused: false,
            dots: dots.map(|(_, dots)| dots).collect(),
            no_divisors: Vec::new(),
        }
    }

    /// Returns the flags for a computer that has `features`.
    #[must_use]
    pub fn flags_for(&self, features: &[String]) -> Vec<String> {
        let optional = self
            .optional
            .iter()
            .filter(|optional| features.contains(&optional.feature));
        let more = optional.flat_map(|optional| optional.flags.clone());
        self.flags.iter().cloned().chain(more).collect()
    }
}

/// Reads the description of a machine of `target`.
///
/// # Errors
/// [`EvalError::Input`] with the file and what is wrong in it.
pub fn machine_of(target: &Target, name: &str) -> Result<Machine, EvalError> {
    read_machine(target, name, Machine::parse)
}

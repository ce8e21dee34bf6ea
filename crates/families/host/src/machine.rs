//! Machine parameters of a host target: `machines/*.toml`.

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
        toml::from_str(text).map_err(|error| error.to_string())
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

    /// Returns whether kernels may use a feature where the processor has it.
    #[must_use]
    pub fn uses(&self, feature: &str) -> bool {
        let mut optional = self.optional.iter().map(|it| &it.feature);
        self.features.iter().any(|it| it == feature) || optional.any(|it| it == feature)
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

#[cfg(test)]
mod tests {
    use super::Machine;

    const TEXT: &str = "architecture = \"x86_64\"\nflags = [\"-march=x86-64-v3\"]\n\
        features = [\"avx2\", \"fma\"]\nlanes = 8\nregisters = 16\n\
        [[optional]]\nfeature = \"avxvnni\"\nflags = [\"-mavxvnni\"]\n";

    #[test]
    fn flags_follow_the_features_that_are_there() {
        let machine = Machine::parse(TEXT).expect("a machine");
        let has = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(machine.flags_for(&has(&["avx2"])), ["-march=x86-64-v3"]);
        assert_eq!(
            machine.flags_for(&has(&["avx2", "avxvnni"])),
            ["-march=x86-64-v3", "-mavxvnni"]
        );
        assert_eq!(machine.missing(&has(&["avx2"])), ["fma"]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let error = Machine::parse(&format!("speed = 3\n{TEXT}")).expect_err("a typing error");
        assert!(error.contains("speed"), "{error}");
    }
}

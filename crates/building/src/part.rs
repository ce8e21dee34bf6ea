//! The parts of what is known of a target.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A part, which is written and asked for by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What a kernel writer must know.
    Architecture,
    /// The reference of instructions, in sections with the names that they explain.
    Isa,
    /// Optimizations that a plan may choose.
    Menu,
    /// Steps by which a program becomes a kernel.
    Translation,
    /// What plans and code must keep to.
    Rules,
    /// Code before and after one optimization.
    Examples,
    /// What documents say of the parameters of the machine; only compared.
    Figures,
}

impl Part {
    /// All parts, in the order in which they are written.
    pub const ALL: [Self; 7] = [
        Self::Architecture,
        Self::Isa,
        Self::Menu,
        Self::Translation,
        Self::Rules,
        Self::Examples,
        Self::Figures,
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Isa => "isa",
            Self::Menu => "menu",
            Self::Translation => "translation",
            Self::Rules => "rules",
            Self::Examples => "examples",
            Self::Figures => "figures",
        }
    }

    /// Returns whether a model puts its statements in order when several requests wrote them.
    pub(crate) fn is_merged(self) -> bool {
        matches!(
            self,
            Self::Architecture | Self::Menu | Self::Translation | Self::Rules
        )
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|it| it.name()).collect();
            format!("there is no part `{name}`; parts are {}", names.join(", "))
        })
    }
}

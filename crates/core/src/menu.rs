//! The optimization menu.

use serde::{Deserialize, Serialize};

/// One optimization that a plan may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MenuItem {
    /// Stable identifier, kebab-case (`double-buffer`). `other` is the escape
    /// item that menu dropout never removes.
    pub id: String,
    /// What to do, one or two sentences, shown to models and people.
    pub text: String,
    /// When the item applies; empty if always.
    #[serde(default)]
    pub applies_when: String,
}

impl MenuItem {
    /// The identifier of the escape item, always kept in every menu.
    pub const OTHER: &'static str = "other";
}

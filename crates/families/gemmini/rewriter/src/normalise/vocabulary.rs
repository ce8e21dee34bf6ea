//! What kernels may take for granted.

/// What the surroundings of a kernel give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The function that is called.
    pub entry: String,
    /// Functions of the target's headers that kernels may call, in C; empty for none.
    pub library: String,
}

impl Default for Vocabulary {
    /// Returns one without a library, with the customary entry `solution`.
    fn default() -> Self {
        Self {
            entry: "solution".to_owned(),
            library: String::new(),
        }
    }
}

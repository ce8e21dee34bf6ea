//! Which of the host's instructions the model may use.

/// Instructions of the host for which there is code of its own. All give the
/// same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionSet {
    /// Nothing beyond what the program was compiled for.
    Portable,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 with byte operations and dot products (F, BW, VNNI), and AVX2
    /// and FMA.
    Avx512,
    /// Advanced SIMD of 64-bit ARM.
    Neon,
}

impl InstructionSet {
    /// All of them, slowest first.
    const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// Returns whether this machine has the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            _ => false,
        }
    }

    /// Returns those that this machine has, slowest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|set| set.is_available())
            .collect()
    }

    /// Returns the fastest that this machine has.
    #[must_use]
    pub fn detect() -> Self {
        Self::ALL
            .into_iter()
            .rfind(|set| set.is_available())
            .unwrap_or(Self::Portable)
    }

    /// Returns its customary name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }
}

/// A set of instructions that this machine has: the proof that functions
/// compiled for it may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host(InstructionSet);

impl Host {
    /// Finds out what this machine has.
    pub fn detect() -> Self {
        Self(InstructionSet::detect())
    }

    /// Returns `set` if this machine has it.
    pub fn with(set: InstructionSet) -> Option<Self> {
        set.is_available().then_some(Self(set))
    }

    /// Returns the set.
    #[inline]
    pub fn set(self) -> InstructionSet {
        self.0
    }
}

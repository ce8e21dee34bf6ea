//! What the processor of this computer can do.

/// Features by their customary names, as far as targets ask for them; those
/// of `/proc/cpuinfo`, with the spelling of the compiler.
const X86_NAMES: &[(&str, &str)] = &[
    ("avx2", "avx2"),
    ("fma", "fma"),
    ("bmi2", "bmi2"),
    ("f16c", "f16c"),
    ("avx512f", "avx512f"),
    ("avx512bw", "avx512bw"),
    ("avx512dq", "avx512dq"),
    ("avx512vl", "avx512vl"),
    ("avx512cd", "avx512cd"),
    ("avx512_vnni", "avx512vnni"),
    ("avx512_bf16", "avx512bf16"),
    ("avx512_fp16", "avx512fp16"),
    ("avx512vbmi", "avx512vbmi"),
    ("avx_vnni", "avxvnni"),
    ("amx_tile", "amx-tile"),
    ("amx_int8", "amx-int8"),
    ("amx_bf16", "amx-bf16"),
];

const ARM_NAMES: &[(&str, &str)] = &[
    ("asimd", "neon"),
    ("asimddp", "dotprod"),
    ("i8mm", "i8mm"),
    ("bf16", "bf16"),
    ("fphp", "fp16"),
    ("sve", "sve"),
];

/// The processor of this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Architecture (`x86_64`, `aarch64`).
    pub architecture: String,
    /// What it calls itself; empty if it does not tell.
    pub model: String,
    /// What it can do and the operating system lets it do, by the names that
    /// targets use (`avx2`, `avx512f`, `amx-int8`, `neon`).
    pub features: Vec<String>,
}

impl Processor {
    /// Returns the processor of this computer. The operating system's list is
    /// read, because it leaves out what the system does not keep registers for.
    #[must_use]
    pub fn detect() -> Self {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self::read(std::env::consts::ARCH, &text)
    }

    /// Reads the text of `/proc/cpuinfo`.
    #[must_use]
    pub fn read(architecture: &str, text: &str) -> Self {
        let value = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map_or("", |(_, value)| value.trim())
        };
        let (list, names) = match architecture {
            "aarch64" => (value("Features"), ARM_NAMES),
            _ => (value("flags"), X86_NAMES),
        };
        let there: Vec<&str> = list.split_whitespace().collect();
        let features = names
            .iter()
            .filter(|(system, _)| there.contains(system))
            .map(|(_, name)| (*name).to_owned())
            .collect();
        Self {
            architecture: architecture.to_owned(),
            model: value("model name").to_owned(),
            features,
        }
    }

    /// Returns the name of the target for this processor: the widest vectors
    /// that it has.
    #[must_use]
    pub fn target(&self) -> Option<&'static str> {
        let has = |names: &[&str]| {
            names
                .iter()
                .all(|name| self.features.iter().any(|feature| feature == name))
        };
        match self.architecture.as_str() {
            "x86_64" if has(&["avx512f", "avx512bw", "avx512dq", "avx512vl"]) => {
                Some("host-x86-64-avx512")
            }
            "x86_64" if has(&["avx2", "fma"]) => Some("host-x86-64-avx2"),
            "aarch64" if has(&["neon"]) => Some("host-aarch64-neon"),
            _ => None,
        }
    }
}

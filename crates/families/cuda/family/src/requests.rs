//! What the host part of a kernel asks for.

use autocomp_cuda_sim::Module;
use autocomp_cuda_sim::machine::Launch;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of memory that a kernel may ask for, all together.
const MOST_MEMORY: u64 = 128 << 20;
/// Bytes of arguments of a launch, in PTX of before version 8.1.
const MOST_ARGUMENTS: u64 = 4096;
/// The attribute that allows more shared memory.
const MOST_DYNAMIC_SHARED: u64 = 8;

/// A place on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An address.
    Address(u64),
    /// In a variable of the module, so many bytes behind its begin.
    Variable(String, u64),
}

impl Target {
    /// Returns the address on a simulated device; nothing if `module` has no such variable.
    pub(crate) fn address(&self, module: &Module) -> Option<u64> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Variable(name, offset) => module.variable_address(name)?.checked_add(*offset),
        }
    }
}

/// One thing that the host part asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Runs a kernel.
    Launch(Launch),
    /// Sets bytes of the device's memory.
    Set { to: u64, value: u8, bytes: u64 },
    /// Copies bytes of the device's memory.
    Copy {
        to: Target,
        from: Target,
        bytes: u64,
    },
    /// Puts bytes of the host part into memory of the device.
    Put { to: Target, content: Vec<u8> },
    /// Gives a piece of memory back.
    Free { address: u64 },
}

/// Bytes of shared memory that kernels are allowed beyond the usual.
pub(crate) type Allowed = BTreeMap<String, u32>;

/// A variable of the host part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostVariable {
    /// Where it lies.
    pub(crate) addresses: Range<u64>,
    /// Its name, mangled.
    pub(crate) name: String,
}

/// All that it asks for, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recording {
    pub(crate) requests: Vec<Request>,
    /// Sizes of the pieces of memory that it asked for.
    pub(crate) memory: Vec<u64>,
    /// Its variables, whose addresses it may give to kernels by mistake.
    pub(crate) variables: Vec<HostVariable>,
}

impl Recording {
    /// Reads the text of a recorder. The host part can write that text itself; whatever it
    /// says is what runs.
    ///
    /// `names` are those of kernels and variables by what stands for them.
    pub(crate) fn parse(text: &str, names: &BTreeMap<u64, String>) -> Result<Self, String> {
        Self::parse_after(text, names, &mut Allowed::new())
    }

    /// The same, where calls before have allowed kernels more shared memory.
    pub(crate) fn parse_after(
        text: &str,
        names: &BTreeMap<u64, String>,
        allowed: &mut Allowed,
    ) -> Result<Self, String> {
        let mut recording = Self::default();
        let mut is_whole = false;
        let kernel = |address: u64| {
            let name = names.get(&address);
            name.cloned()
                .ok_or_else(|| "the host part launches what is no kernel".to_owned())
        };
        for line in text.lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let words: Vec<&str> = words.collect();
            let number = |at: usize| -> Result<u64, String> {
                let word = words.get(at).and_then(|it| it.parse().ok());
                word.ok_or_else(|| {
                    format!("the host part wrote a request that cannot be read: {name}")
                })
            };
            let content = |at: usize| {
                let content = words.get(at).and_then(|it| bytes_of(it.strip_prefix('x')?));
                content
                    .ok_or_else(|| format!("the host part wrote bytes that cannot be read: {name}"))
            };
            let target = |at: usize| -> Result<Target, String> {
                let (place, offset) = (number(at)?, number(at + 1)?);
                Ok(match names.get(&place) {
                    Some(name) => Target::Variable(name.clone(), offset),
                    None => Target::Address(place.saturating_add(offset)),
                })
            };
            let small = |at: usize| number(at).map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            match name {
                "launch" => {
                    let kernel = kernel(number(0)?)?;
                    recording.requests.push(Request::Launch(Launch {
                        grid: [small(1)?, small(2)?, small(3)?],
                        block: [small(4)?, small(5)?, small(6)?],
                        dynamic_shared: small(7)?,
                        allowed_shared: allowed.get(&kernel).copied().unwrap_or(0),
                        arguments: content(8)?,
                        kernel,
                    }));
                }
                "memory" => recording.memory.push(number(0)?),
                "set" => recording.requests.push(Request::Set {
                    to: number(0)?,
                    value: number(1)? as u8,
                    bytes: number(2)?,
                }),
                "copy" => recording.requests.push(Request::Copy {
                    to: target(0)?,
                    from: target(2)?,
                    bytes: number(4)?,
                }),
                "put" => recording.requests.push(Request::Put {
                    to: target(0)?,
                    content: content(2)?,
                }),
                "host-bytes" => {
                    return Err("the host part puts more than 1048576 bytes into memory of the device: let kernels compute them".into());
                }
                "to-host" => {
                    return Err("the host part copies from the device to itself, where nothing comes back: it runs before all kernels, and asks for the same whatever they find: let a kernel read what decides what there is to do".into());
                }
                "free" => recording.requests.push(Request::Free { address: number(0)? }),
                "stream" => {
                    return Err("the host part names a stream, and there is none but the default one: launch and copy on that".into());
                }
                "arguments" => {
                    return Err(format!(
                        "the host part launches a kernel with {} bytes of arguments, of which it may have {MOST_ARGUMENTS}: put them into memory of the device",
                        number(0)?
                    ));
                }
                "attribute" => {
                    if number(1)? == MOST_DYNAMIC_SHARED {
                        allowed.insert(kernel(number(0)?)?, small(2)?);
                    }
                }
                "too-many" => return Err("the host part asks for more than 4096 things: put loops over launches into kernels".into()),
                "end" => is_whole = true,
                _ => return Err("the host part wrote a request that cannot be read".into()),
            }
        }
        recording.requests.retain(|it| !it.is_of_no_bytes());
        if !is_whole {
            return Err("the host part ended before `solution` did".into());
        }
        let all = recording
            .memory
            .iter()
            .fold(0_u64, |sum, it| sum.saturating_add(*it));
        if MOST_MEMORY < all || 64 < recording.memory.len() {
            return Err(format!(
                "the host part asks for {all} bytes of memory in {} pieces, of which it may have {MOST_MEMORY} in 64",
                recording.memory.len()
            ));
        }
        if !recording
            .requests
            .iter()
            .any(|it| matches!(it, Request::Launch(_)))
        {
            return Err("the host part launches no kernel".into());
        }
        Ok(recording)
    }
}

impl Request {
    /// Returns the place of a copy or of bytes that is no variable of `module`, if there is one.
    pub(crate) fn absent(&self, module: &Module) -> Option<&Target> {
        let places = match self {
            Self::Put { to, .. } => [Some(to), None],
            Self::Copy { to, from, .. } => [Some(to), Some(from)],
            Self::Launch(_) | Self::Set { .. } | Self::Free { .. } => [None, None],
        };
        let mut places = places.into_iter().flatten();
        places.find(|it| it.address(module).is_none())
    }

    /// Returns whether it sets or copies nothing, which a device allows wherever it points to.
    fn is_of_no_bytes(&self) -> bool {
        match self {
            Self::Set { bytes, .. } | Self::Copy { bytes, .. } => *bytes == 0,
            Self::Put { content, .. } => content.is_empty(),
            Self::Launch(_) | Self::Free { .. } => false,
        }
    }

    /// Returns the same request with 0 for each word that may be an address, and these words.
    pub(crate) fn without_addresses(&self) -> (Self, Vec<u64>) {
        let mut words = Vec::new();
        let mut take = |word: &mut u64| words.push(std::mem::take(word));
        let mut request = self.clone();
        let targets = match &mut request {
            Self::Put { to, .. } => vec![to],
            Self::Copy { to, from, .. } => vec![to, from],
            Self::Launch(_) | Self::Set { .. } | Self::Free { .. } => Vec::new(),
        };
        for target in targets {
            if let Target::Address(address) = target {
                take(address);
            }
        }
        let bytes = match &mut request {
            Self::Launch(launch) => &mut launch.arguments[..],
            Self::Put { content, .. } => &mut content[..],
            Self::Set { to, .. } | Self::Free { address: to } => {
                take(to);
                &mut []
            }
            Self::Copy { .. } => &mut [],
        };
        for bytes in bytes.as_chunks_mut::<8>().0 {
            take(&mut u64::from_le_bytes(*bytes));
            *bytes = [0; 8];
        }
        (request, words)
    }
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}

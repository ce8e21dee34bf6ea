//! Requests to the L2.

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A copy of some beats, without a right to keep them.
    Get,
    /// Writing some beats.
    Put {
        /// Bytes in between are not written, so that they have to be read first.
        partial: bool,
        /// The line is covered.
        whole: bool,
        /// The beats of the line into which anything is written, a bit each.
        written: u8,
    },
    /// The line, to keep it in the core's data cache.
    Acquire {
        /// Whether the core is to write to the line.
        write: bool,
    },
    /// A dirty line that the core's data cache gives back.
    Release,
}

/// Whom to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// The accelerator's reader, which knows the packet by this number.
    Reader(u8),
    /// The accelerator's writer.
    Writer,
    /// The core's L1 caches.
    Core,
    /// No one waits for the answer.
    Nobody,
}

/// A request to the L2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// Address divided by the size of a line.
    pub(super) line: u64,
    /// First beat within the line, and how many.
    pub(super) beat: u8,
    pub(super) beats: u8,
    pub(super) kind: Kind,
    pub(super) client: Client,
    /// Cycle at which it left its sender.
    pub(super) sent: u64,
}

impl Request {
    /// A request that no one has sent.
    pub(super) const NONE: Self = Self {
        line: 0,
        beat: 0,
        beats: 1,
        kind: Kind::Get,
        client: Client::Nobody,
        sent: 0,
    };

    /// Returns whether it comes from the core's L1 caches.
    #[inline]
    pub(super) fn is_from_core(&self) -> bool {
        matches!(self.client, Client::Core | Client::Nobody)
    }

    /// Returns whether the accelerator's reader sent it.
    #[inline]
    pub(super) fn is_read(&self) -> bool {
        matches!(self.client, Client::Reader(_))
    }

    /// Returns for how many cycles it occupies the way to the L2.
    #[inline]
    pub(super) fn beats_sent(&self) -> u64 {
        match self.kind {
            Kind::Put { .. } => self.beats.into(),
            _ => 1,
        }
    }
}

//! Registers that instructions read, as records hold them.

/// The registers that an instruction reads, numbered from 0 to 63: integer, then floating-point
/// ones. 0 is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sources(pub [u8; 3]);

impl Sources {
    /// Returns them as a number that records hold.
    pub fn pack(self) -> u64 {
        let [a, b, c] = self.0;
        u32::from_le_bytes([a, b, c, 0]).into()
    }

    #[inline(always)]
    pub fn unpack(number: u64) -> Self {
        let [a, b, c, ..] = number.to_le_bytes();
        Self([a, b, c])
    }

    /// Returns them as bits.
    pub fn bits(self) -> u64 {
        self.0
            .iter()
            .fold(0, |bits, register| bits | 1 << (register & 63))
    }
}

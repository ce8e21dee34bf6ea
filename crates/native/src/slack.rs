//! What the rest of a buffer's pages holds: values that show if a kernel reads them, and
//! whose change shows if it writes there.

use autocomp_catalog::{Buffer, DataType};

/// Ordinary numbers that lie around a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Beyond those of the buffer: they change its extremes and its sums.
    Beyond,
    /// Hardly beyond them, so that they pass for the buffer's own where numbers are left out by
    /// their range.
    Hardly,
    /// The first of the buffer itself, which count wherever its own do.
    Own,
}

impl Numbers {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Beyond, Self::Hardly, Self::Own];
}

/// The elements that fill the space around a buffer, repeated from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern([u8; 8]);

impl Pattern {
    /// Returns the pattern around `buffer` in a call of an even or odd number: what one of
    /// them hides the other shows. Numbers that are none stay in every sum and vanish in a
    /// maximum; infinite ones stay in a maximum and in a minimum.
    pub fn around(buffer: &Buffer, is_odd: bool) -> Self {
        let word = match (buffer.dtype, is_odd) {
            // Signalling: the highest bit of the fraction is clear.
            (DataType::Float32, false) => 0xffa5_a7a7_7fa5_a7a7,
            (DataType::Float32, true) => 0xff80_0000_7f80_0000,
            (DataType::Float16, false) => 0xfda7_7da7_fda7_7da7,
            (DataType::Float16, true) => 0xfc00_7c00_fc00_7c00,
            (DataType::BFloat16, false) => 0xffa7_7fa7_ffa7_7fa7,
            (DataType::BFloat16, true) => 0xff80_7f80_ff80_7f80,
            (DataType::Float8E4M3 | DataType::Float8E4M3Fn, false) => 0xff7f_ff7f_ff7f_ff7f,
            (DataType::Float8E4M3 | DataType::Float8E4M3Fn, true) => 0xf878_f878_f878_f878,
            (DataType::Float8E5M2, false) => 0xfd7d_fd7d_fd7d_fd7d,
            (DataType::Float8E5M2, true) => 0xfc7c_fc7c_fc7c_fc7c,
            (DataType::Int32 | DataType::UInt32, false) => 0x7fa7_a7a7_7fa7_a7a7,
            (DataType::Int32 | DataType::UInt32, true) => 0x8058_5858_8058_5858,
            (DataType::Int16 | DataType::UInt16, false) => 0x7fa7_7fa7_7fa7_7fa7,
            (DataType::Int16 | DataType::UInt16, true) => 0x8058_8058_8058_8058,
            (DataType::Int8, false) => 0x7e7e_7e7e_7e7e_7e7e,
            (DataType::Int8, true) => 0x8282_8282_8282_8282,
            (DataType::UInt8 | DataType::Bool, false) => 0xfefe_fefe_fefe_fefe,
            (DataType::UInt8 | DataType::Bool, true) => 0x0101_0101_0101_0101,
        };
        Self(u64::to_le_bytes(word))
    }

    /// Returns ordinary numbers around `content`, which kernels that leave out what is no number, or
    /// infinite, show that they read.
    #[must_use]
    pub fn ordinary(buffer: &Buffer, content: &[u8], numbers: Numbers) -> Self {
        let dtype = buffer.dtype;
        let extremes = || {
            let values = content.chunks_exact(dtype.bytes());
            let values = values.map(|bytes| dtype.value(bytes));
            let finite = values.filter(|value| value.is_finite());
            finite.fold((f64::MAX, f64::MIN), |(least, most): (f64, f64), it| {
                (least.min(it), most.max(it))
            })
        };
        let pair = match numbers {
            Numbers::Own => {
                let own = content.iter().cycle().copied();
                let mut bytes = [0; 8];
                let places = bytes.iter_mut().zip(own);
                places.for_each(|(byte, own)| *byte = own);
                return Self(bytes);
            }
            // Of two sizes, so that they do not vanish in a sum.
            Numbers::Beyond => {
                let (least, most) = extremes();
                [1.5, -2.5].map(|factor| factor * most.max(-least).max(1.0))
            }
            Numbers::Hardly => {
                let (least, most) = extremes();
                [most + 0.0005 * most.abs(), least - 0.0005 * least.abs()]
            }
        };
        let (low, high) = dtype.range();
        let mut bytes = Vec::new();
        while bytes.len() < 8 {
            for value in pair {
                dtype.push(value.clamp(low, high), &mut bytes);
            }
        }
        Self(bytes.first_chunk().copied().unwrap_or_default())
    }

    /// Returns the bytes of the elements.
    #[must_use]
    pub fn bytes(self) -> [u8; 8] {
        self.0
    }

    /// Fills `bytes`.
    pub fn fill(self, bytes: &mut [u8]) {
        for (idx, byte) in bytes.iter_mut().enumerate() {
            *byte = self.0[idx % 8];
        }
    }

    /// Returns how many of `bytes` are not as they were filled.
    pub fn changed(self, bytes: &[u8]) -> usize {
        let bytes = bytes.iter().enumerate();
        bytes
            .filter(|(idx, byte)| **byte != self.0[idx % 8])
            .count()
    }
}

//! Instructions that sum several products of narrow numbers at once, by instruction set.

use serde::{Deserialize, Serialize};

/// Instructions that sum several products of narrow numbers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dots {
    /// Four products of an unsigned and a signed byte: AVX-512 VNNI.
    BytesAvx512,
    /// Four products of an unsigned and a signed byte: AVX-VNNI.
    BytesAvx,
    /// Two products of 16-bit numbers: `pmaddwd`.
    Words,
    /// Four products of signed bytes: `sdot`.
    SignedBytes,
}

/// What there is to know of such instructions.
struct Instruction {
    /// Products that one lane sums.
    group: u32,
    /// Type of the operands in panels.
    kind: &'static str,
    /// Whether the operand of the rows has 128 added to it, to be unsigned.
    is_shifted: bool,
    /// Lanes of 32 bits that there is one for, and the statement that adds the products of
    /// `ROWS` and `COLUMNS` to `SUM`.
    calls: &'static [(u32, &'static str)],
}

/// Source: Intel Intrinsics Guide, `_mm_dpbusd_epi32`.
const BYTES_AVX512: Instruction = Instruction {
    group: 4,
    kind: "int8_t",
    is_shifted: true,
    calls: &[
        (
            4,
            "SUM = (vector_i4)_mm_dpbusd_epi32((__m128i)SUM, (__m128i)ROWS, (__m128i)COLUMNS);",
        ),
        (
            8,
            "SUM = (vector_i8)_mm256_dpbusd_epi32((__m256i)SUM, (__m256i)ROWS, (__m256i)COLUMNS);",
        ),
        (
            16,
            "SUM = (vector_i16)_mm512_dpbusd_epi32((__m512i)SUM, (__m512i)ROWS, (__m512i)COLUMNS);",
        ),
    ],
};

/// Source: Intel Intrinsics Guide, `_mm_dpbusd_avx_epi32`.
const BYTES_AVX: Instruction = Instruction {
    group: 4,
    kind: "int8_t",
    is_shifted: true,
    calls: &[
        (
            4,
            "SUM = (vector_i4)_mm_dpbusd_avx_epi32((__m128i)SUM, (__m128i)ROWS, (__m128i)COLUMNS);",
        ),
        (
            8,
            "SUM = (vector_i8)_mm256_dpbusd_avx_epi32((__m256i)SUM, (__m256i)ROWS, (__m256i)COLUMNS);",
        ),
    ],
};

/// Source: Intel Intrinsics Guide, `_mm_madd_epi16`.
const WORDS: Instruction = Instruction {
    group: 2,
    kind: "int16_t",
    is_shifted: false,
    calls: &[
        (
            4,
            "SUM += (vector_i4)_mm_madd_epi16((__m128i)ROWS, (__m128i)COLUMNS);",
        ),
        (
            8,
            "SUM += (vector_i8)_mm256_madd_epi16((__m256i)ROWS, (__m256i)COLUMNS);",
        ),
        (
            16,
            "SUM += (vector_i16)_mm512_madd_epi16((__m512i)ROWS, (__m512i)COLUMNS);",
        ),
    ],
};

/// Source: Arm Neon Intrinsics Reference, `vdotq_s32`.
const SIGNED_BYTES: Instruction = Instruction {
    group: 4,
    kind: "int8_t",
    is_shifted: false,
    calls: &[(
        4,
        "SUM = (vector_i4)vdotq_s32((int32x4_t)SUM, (int8x16_t)COLUMNS, (int8x16_t)ROWS);",
    )],
};

impl Dots {
    fn instruction(self) -> &'static Instruction {
        match self {
            Self::BytesAvx512 => &BYTES_AVX512,
            Self::BytesAvx => &BYTES_AVX,
            Self::Words => &WORDS,
            Self::SignedBytes => &SIGNED_BYTES,
        }
    }

    /// Returns how many products one lane sums.
    #[must_use]
    pub fn group(self) -> u32 {
        self.instruction().group
    }

    /// Returns the type of the operands in panels.
    pub(crate) fn kind(self) -> &'static str {
        self.instruction().kind
    }

    /// Returns whether the operand of the rows has 128 added to it, to be unsigned.
    pub(crate) fn is_shifted(self) -> bool {
        self.instruction().is_shifted
    }

    /// Returns whether there is such an instruction for so many lanes.
    #[must_use]
    pub fn has(self, lanes: u32) -> bool {
        self.template(lanes).is_some()
    }

    /// Returns the statement that adds to `sum` the products of a vector of the rows'
    /// operand and one of the columns', all of them vectors of 32-bit lanes.
    pub(crate) fn call(self, lanes: u32, sum: &str, rows: &str, columns: &str) -> Option<String> {
        let names = [("SUM", sum), ("ROWS", rows), ("COLUMNS", columns)];
        let template = self.template(lanes)?.to_owned();
        let named = |text: String, (mark, name): &(&str, &str)| text.replace(mark, name);
        Some(names.iter().fold(template, named))
    }

    fn template(self, lanes: u32) -> Option<&'static str> {
        let calls = self.instruction().calls.iter();
        calls
            .clone()
            .find(|(of, _)| *of == lanes)
            .map(|(_, text)| *text)
    }
}

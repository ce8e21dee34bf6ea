//! What buffers of measured cases hold: like what they held on the device, not the same.

/// Most elements of a buffer.
const MOST: u64 = 1 << 28;

/// Returns `count` elements of a kind; of rows of a sparse matrix, all that they have.
///
/// # Errors
/// That there is no such kind.
pub(super) fn content(kind: &str, count: u64) -> Result<Vec<u8>, String> {
    if MOST < count {
        return Err(format!("a buffer of {count} elements, more than {MOST}"));
    }
    let words = |of: &dyn Fn(u64) -> u32| (0..count).flat_map(|i| of(i).to_le_bytes()).collect();
    Ok(match kind {
        "zeros" => vec![0; count as usize * 4],
        // Between -1 and 1.
        "float" => words(&|i| (mix(i) as i32 as f32 / 2_147_483_648.0).to_bits()),
        "half" => (0..count)
            .flat_map(|i| half::f16::from_f32(mix(i) as i32 as f32 / 2_147_483_648.0).to_le_bytes())
            .collect(),
        "below256" => words(&|i| mix(i) & 255),
        "bytes" => (0..count).map(|i| mix(i) as u8).collect(),
        // Nine of ten are 42.
        "skewed-bytes" => (0..count)
            .map(|i| match mix(i) {
                word if (word >> 8) % 10 < 9 => 42,
                word => word as u8,
            })
            .collect(),
        "random-index" => words(&|i| mix(i) % count as u32),
        "banded-index" => words(&|i| within(i as i64 + i64::from(mix(i) & 63) - 32, count)),
        // Where the rows of a sparse matrix begin: 16 to 48 entries each.
        "random-rows" | "banded-rows" => {
            let ends = (0..count).scan(0, |end, row| {
                *end += length(row);
                Some(*end)
            });
            let all = std::iter::once(0).chain(ends);
            all.flat_map(u32::to_le_bytes).collect()
        }
        "random-columns" => {
            of_entries(count, &|row, entry, _| mix(row << 8 | entry) % count as u32)
        }
        "banded-columns" => of_entries(count, &|row, entry, length| {
            within(row as i64 - i64::from(length / 2) + entry as i64, count)
        }),
        "values" => of_entries(count, &|row, entry, _| {
            (mix(row << 8 | entry) as i32 as f32 / 2_147_483_648.0).to_bits()
        }),
        kind => return Err(format!("there are no contents `{kind}`")),
    })
}

/// Entries of a row of a sparse matrix.
fn length(row: u64) -> u32 {
    16 + mix(row * 31) % 33
}

fn within(index: i64, count: u64) -> u32 {
    index.clamp(0, count as i64 - 1) as u32
}

/// Makes a word of each entry of each row, its number and the number of its row's entries.
fn of_entries(rows: u64, of: &dyn Fn(u64, u64, u32) -> u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in 0..rows {
        let length = length(row);
        for entry in 0..u64::from(length) {
            bytes.extend(of(row, entry, length).to_le_bytes());
        }
    }
    bytes
}

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014), its upper half.
fn mix(number: u64) -> u32 {
    let mut word = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^= word >> 31;
    (word >> 32) as u32
}

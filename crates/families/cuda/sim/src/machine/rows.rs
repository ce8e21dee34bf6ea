//! Accesses of 4 bytes that all threads of a warp make at once.

use super::access::How;
use super::block::Block;
use super::memory::{read_value, write_value};
use super::observer::Witness;
use super::warp::ALL;
use crate::ptx::Space;

impl<O: Witness> Block<'_, O> {
    /// Returns the bytes that accesses of 4 bytes at `addresses` lie in, and the address of the
    /// first of them, if nobody watches and all accesses of `lanes` are right.
    #[inline(always)]
    fn row_memory(
        &mut self,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
    ) -> Option<(&mut [u8], u64)> {
        if self.is_watched || how.bytes != 4 {
            return None;
        }
        let (bytes, begin) = match how.space {
            Space::Shared => (&mut self.shared, 0),
            Space::Global | Space::Generic | Space::Const => {
                let first = addresses[lanes.trailing_zeros().min(31) as usize];
                let place = self.memory.locate(first, 4, how.write).ok()?;
                let area = self.memory.area(place.area);
                if how.write && area.is_constant {
                    return None;
                }
                (&mut area.bytes, first - place.offset as u64)
            }
            _ => return None,
        };
        let last = (bytes.len() as u64).checked_sub(4)?;
        let mut wrong = 0;
        for (lane, address) in addresses.iter().enumerate() {
            let at = address.wrapping_sub(begin);
            let is_wrong = at & 3 != 0 || last < at;
            wrong |= u32::from(is_wrong) << lane;
        }
        (wrong & lanes == 0).then_some((bytes, begin))
    }

    /// Reads 4 bytes for all threads at once, if that is possible.
    #[inline(always)]
    pub(super) fn read_row(
        &mut self,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
    ) -> Option<[u32; 32]> {
        let (bytes, begin) = self.row_memory(how, addresses, lanes)?;
        let mut values = [0; 32];
        if lanes == ALL {
            let first = addresses[0].wrapping_sub(begin);
            let mut in_row = true;
            let mut same = true;
            for (address, idx) in addresses.iter().zip(0_u64..) {
                in_row &= *address == addresses[0].wrapping_add(4 * idx);
                same &= *address == addresses[0];
            }
            if in_row {
                let row = bytes.get(first as usize..first as usize + 128)?;
                for (value, part) in values.iter_mut().zip(row.chunks_exact(4)) {
                    *value = u32::from_le_bytes([part[0], part[1], part[2], part[3]]);
                }
                return Some(values);
            }
            if same {
                return Some([read_value(bytes, first as usize, 4) as u32; 32]);
            }
        }
        for (lane, value) in values.iter_mut().enumerate() {
            if lanes >> lane & 1 != 0 {
                *value = read_value(bytes, addresses[lane].wrapping_sub(begin) as usize, 4) as u32;
            }
        }
        Some(values)
    }

    /// Writes 4 bytes for all threads at once, if that is possible.
    #[inline(always)]
    pub(super) fn write_row(
        &mut self,
        how: How,
        addresses: &[u64; 32],
        values: &[u32; 32],
        lanes: u32,
    ) -> bool {
        let Some((bytes, begin)) = self.row_memory(how, addresses, lanes) else {
            return false;
        };
        for (lane, value) in values.iter().enumerate() {
            if lanes >> lane & 1 != 0 {
                let at = addresses[lane].wrapping_sub(begin) as usize;
                write_value(bytes, at, 4, u64::from(*value));
            }
        }
        true
    }
}

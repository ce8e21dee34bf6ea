//! Sums of single elements, as of average pooling: products with ones.

use super::affine::{Affine, Counter};
use super::core_stores::Storing;
use super::shape;
use super::sum::Summed;

/// Elements that are added up to one at most.
const MOST: i64 = 4096;

impl Storing<'_> {
    /// Has sums of elements of an array that holds operands be products with ones, if nothing
    /// else is multiplied in them.
    pub(super) fn add_up(&mut self, all: &mut [Summed]) -> Result<(), String> {
        if all.iter().any(Summed::is_product) {
            return Ok(());
        }
        for part in all.iter_mut().flat_map(|it| &mut it.parts) {
            let is_summed = !part.counters.is_empty() && part.factor == 1;
            if !is_summed || part.elements.iter().any(|it| it.1 != self.operand) {
                continue;
            }
            // As the elements lie: those side by side are taken at once.
            let mut counters = part.counters.clone();
            let factor = |it: &Counter| {
                part.elements
                    .iter()
                    .map(|one| one.0.factor(*it))
                    .sum::<i64>()
            };
            counters.sort_by_key(|it| std::cmp::Reverse(factor(it)));
            let extents: Vec<i64> = counters
                .iter()
                .map(|counter| self.counters.extent(*counter))
                .collect();
            let count = extents
                .iter()
                .fold(1, |all: i64, it| all.saturating_mul(*it));
            if MOST < count {
                return Err("a sum of many elements".to_owned());
            }
            let array = self.ones(count);
            let indices: Vec<Affine> = counters.iter().map(|it| Affine::counter(*it)).collect();
            let indices: Vec<&Affine> = indices.iter().collect();
            let address = shape::address(array, &indices, &extents, self.operand);
            part.elements.push((address, self.operand));
        }
        Ok(())
    }

    /// Returns an array of so many ones.
    fn ones(&mut self, count: i64) -> usize {
        if let Some((array, size)) = self.ones
            && count <= size
        {
            return array;
        }
        let array = self.add("ones".to_owned(), self.operand, vec![count]);
        let name = &self.plain.memories[array].name;
        let text = format!("  for (int n = 0; n < {count}; n++) {name}[n] = 1;\n");
        self.plain.preparation.push_str(&text);
        self.ones = Some((array, count));
        array
    }
}

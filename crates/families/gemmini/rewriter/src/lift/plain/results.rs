//! What the core does with what the array leaves.

use super::affine::{Affine, Counter};
use super::core_stores::Storing;
use super::element_order::Shaped;
use super::node::Id;
use super::region::Write;
use super::remainder::{Elsewhere, Remainder};
use super::sum::Summed;

impl Storing<'_> {
    /// Returns the code that makes results of what the array leaves.
    ///
    /// `wholes`: where it leaves that. `are_sums`: it leaves sums, not results.
    pub(super) fn results(
        &mut self,
        array: usize,
        all: &[Summed],
        wholes: &[&Write],
        are_sums: bool,
    ) -> Result<String, String> {
        let extents = self.shapes.get(&array).cloned().unwrap_or_default();
        let counters: Vec<Affine> = extents.iter().map(|it| self.counted(*it)).collect();
        let shaped = self.shaped(array);
        let own = |summed: &Summed| [(summed.write.value, 0)];
        let owns: Vec<[(Id, i64); 1]> = all.iter().map(own).collect();
        let of = |at: usize, dims: Vec<Counter>, elsewhere: Option<Elsewhere<'_>>| {
            let remainder = Remainder {
                write: &all[at].write,
                nodes: self.nodes,
                counters: &self.counters,
                memories: &self.plain.memories,
                sums: if are_sums { &all[at].found } else { &owns[at] },
                place: wholes[at].address.clone(),
                element: wholes[at].element,
                dims,
                elsewhere,
            };
            remainder.text()
        };
        let mut each = Vec::new();
        let mut places = Vec::new();
        let mut count = 0;
        for (at, Summed { write, .. }) in all.iter().enumerate() {
            let dims = write.dims.iter().map(|dim| self.counters.extent(*dim));
            count += dims.product::<i64>();
            each.push(of(at, write.dims.clone(), None)?);
            let indices = |it: &Shaped<'_>| it.indices(&write.address, write.element);
            places.push(shaped.as_ref().and_then(indices));
        }
        let places: Option<Vec<Vec<Affine>>> = places.into_iter().collect();
        let is_all = count == extents.iter().product::<i64>();
        let Some(places) = places.filter(|_| is_all && 1 < all.len()) else {
            return Ok(each.concat());
        };
        // All at once, if the way of one write is that of all others.
        let once = (0..all.len()).find_map(|at| {
            let like = |there: &[Affine], dims: Vec<Counter>| {
                let elsewhere = Elsewhere {
                    place: &places[at],
                    whole: &counters,
                    there,
                };
                of(at, dims, Some(elsewhere)).ok()
            };
            let is_so = (0..all.len()).all(|other| {
                like(&places[other], all[other].write.dims.clone()).as_ref() == Some(&each[other])
            });
            let dims = counters.iter().flat_map(Affine::counters).collect();
            is_so.then(|| like(&counters, dims)).flatten()
        });
        Ok(once.unwrap_or_else(|| each.concat()))
    }
}

//! Sums whose inputs the core lays side by side, result by result (`im2col`): what remains is
//! a product, whatever windows the sums go over.

use super::affine::{Affine, Counter};
use super::code::Loops;
use super::core_stores::Storing;
use super::element_order::Order;
use super::linear::{PLAIN, Part};
use super::region::Write;
use super::rounding::Outlet;
use super::shape;

/// Elements of a sum that one counter goes over at most.
const DEPTH: i64 = 4096;

/// Why no weights belong to a dimension of the results.
const OTHER_COLUMNS: &str = "columns of its weights are not those of its results";

/// What is stored: where, of which sums, and what is done to them.
pub(super) type Given = (Write, Vec<Part>, Outlet);

impl Storing<'_> {
    /// Returns one product in place of all that an array is given.
    ///
    /// `results`: extents of the array that has them. `all`: what it is given.
    pub(super) fn patched(
        &mut self,
        results: &[i64],
        all: Vec<Given>,
    ) -> Result<Vec<Given>, String> {
        let unknown = || "arrays whose sizes are not known".to_owned();
        let (first, _, outlet) = all.first().cloned().ok_or("no results")?;
        if all.iter().any(|it| it.2 != outlet) {
            return Err("results are made of sums in more than one way".to_owned());
        }
        let stored = all.iter().map(|(write, ..)| {
            let extents = write.dims.iter().map(|dim| self.counters.extent(*dim));
            extents.product::<i64>()
        });
        if stored.sum::<i64>() != results.iter().product::<i64>() {
            return Err("only a part of its elements is stored".to_owned());
        }
        // Each result, by a counter for each dimension.
        let whole: Vec<Affine> = results.iter().map(|it| self.counted(*it)).collect();
        // Either operand may be the weights: the core lays as little as possible.
        let [one, other] = self.operands(&all)?;
        let plans = [[one, other], [other, one]].map(|both| self.plan(&all, both, results, &whole));
        let plan = match plans {
            [Ok(one), Ok(other)] if other.laid < one.laid => other,
            [Ok(one), _] | [Err(_), Ok(one)] => one,
            [Err(why), Err(_)] => return Err(why),
        };
        let Plan {
            image,
            kernel,
            fills,
            addends,
            columns: [column, of_weights],
            ..
        } = plan;
        let weights = self.shapes.get(&kernel).ok_or_else(unknown)?.clone();
        // Rows of weights are all of their dimensions but the columns.
        let rows: Vec<usize> = (0..weights.len()).filter(|it| *it != of_weights).collect();
        let depths: Vec<i64> = rows.iter().map(|dim| weights[*dim]).collect();
        let depth: i64 = depths.iter().product();
        let mut extents = results.to_vec();
        extents[column] = depth;
        let name = format!("{}_patches", self.plain.memories[image].name);
        let patches = self.add(name, self.operand, extents.clone());
        let operand = self.operand;
        let at = |place: &[Affine], row: Affine| {
            let mut place = place.to_vec();
            place[column] = row;
            let indices: Vec<&Affine> = place.iter().collect();
            shape::address(patches, &indices, &extents, operand)
        };
        let mut text = String::new();
        for fill in &fills {
            let taps: Vec<&Affine> = rows.iter().map(|dim| &fill.tap[*dim]).collect();
            let target = at(&fill.place, shape::number(&taps, &depths));
            text.push_str(&self.filling(&target, fill)?);
        }
        self.plain.preparation.push_str(&text);
        // Weights with rows of their columns, or columns of their rows.
        let is_last = of_weights + 1 == weights.len();
        let order = Order {
            array: kernel,
            dims: rows.iter().copied().chain([of_weights]).collect(),
        };
        let kernel = match of_weights == 0 || is_last {
            true => kernel,
            false => self.in_order(&order)?,
        };
        let (summed, row) = self.deep(depth);
        let one = if of_weights == 0 {
            [whole[column].times(depth), row.clone()]
        } else {
            [row.times(weights[of_weights]), whole[column].clone()]
        };
        let one = Affine::of(0).plus(&one[0], 1).plus(&one[1], 1);
        let of = shape::address(
            kernel,
            &[&one],
            &[depth * weights[of_weights]],
            self.operand,
        );
        let mut parts = addends;
        parts.push(Part {
            factor: 1,
            scale: PLAIN,
            elements: vec![(at(&whole, row), self.operand), (of, self.operand)],
            counters: summed,
        });
        let to = first.address.array().ok_or("no array")?;
        let indices: Vec<&Affine> = whole.iter().collect();
        let write = Write {
            address: shape::address(to, &indices, results, first.element),
            dims: whole.iter().flat_map(Affine::counters).collect(),
            ..first
        };
        Ok(vec![(write, parts, outlet)])
    }

    /// Finds out how inputs are to be laid for weights.
    fn plan(
        &self,
        all: &[Given],
        [image, kernel]: [usize; 2],
        results: &[i64],
        whole: &[Affine],
    ) -> Result<Plan, String> {
        if self.written.contains(&image) {
            return Err("its inputs are written beforehand".to_owned());
        }
        let unknown = || "arrays whose sizes are not known".to_owned();
        let weights = self.shapes.get(&kernel).ok_or_else(unknown)?;
        let mut columns: Option<[usize; 2]> = None;
        let mut fills: Vec<Fill> = Vec::new();
        let mut lones: Vec<(Vec<Affine>, Vec<&Part>)> = Vec::new();
        for (write, parts, _) in all {
            let place = shape::indices(&write.address, write.element, results, &self.counters);
            let place = place.ok_or_else(unknown)?;
            let (lone, products): (Vec<&Part>, Vec<&Part>) =
                parts.iter().partition(|part| part.elements.len() < 2);
            for part in products {
                let fill = self.fill(write, part, &place, ([image, kernel], weights))?;
                columns = columns.or(fill.columns);
                fills.push(fill);
            }
            lones.push((place, lone));
        }
        // What is added to the sums of one write must be so everywhere.
        let differs = || "what is added to its sums differs from place to place".to_owned();
        let own = |(place, lone): &(Vec<Affine>, Vec<&Part>)| -> Option<Vec<Part>> {
            let all = lone.iter().map(|part| everywhere(part, place, whole));
            all.collect()
        };
        let is_so = |addends: &Vec<Part>| {
            lones.iter().all(|(place, lone)| {
                let mut both = lone.iter().zip(addends);
                lone.len() == addends.len() && both.all(|(part, it)| **part == at(it, place, whole))
            })
        };
        let addends = lones.iter().filter_map(own).find(is_so);
        let addends = addends.ok_or_else(differs)?;
        let columns = columns.ok_or("no products")?;
        let [column, of_weights] = columns;
        let is_alike = |fill: &Fill| {
            fill.columns.is_none_or(|it| it == columns)
                && fill.place[column] == fill.tap[of_weights]
        };
        if !fills.iter().all(is_alike) {
            return Err(OTHER_COLUMNS.to_owned());
        }
        let laid = fills.iter().map(|fill| {
            let extents = fill.dims.iter().map(|dim| self.counters.extent(*dim));
            extents.product::<i64>()
        });
        Ok(Plan {
            laid: laid.sum(),
            image,
            kernel,
            fills,
            addends,
            columns,
        })
    }

    /// Returns what goes over so many elements: a counter, or nothing for a single one.
    pub(super) fn counted(&mut self, extent: i64) -> Affine {
        match extent {
            1 => Affine::of(0),
            _ => Affine::counter(self.counters.new_of(extent)),
        }
    }

    /// Returns counters that together go over so many elements, none over too many.
    fn deep(&mut self, depth: i64) -> (Vec<Counter>, Affine) {
        let parts = (1..=depth).find(|it| depth % it == 0 && depth / it <= DEPTH);
        let inner = depth / parts.unwrap_or(1);
        let [outside, inside] = [depth / inner, inner].map(|extent| self.counted(extent));
        let row = inside.plus(&outside, inner);
        (row.counters(), row)
    }

    /// Returns how inputs are laid for the results of a write.
    fn fill(
        &self,
        write: &Write,
        part: &Part,
        place: &[Affine],
        ([image, kernel], weights): ([usize; 2], &[i64]),
    ) -> Result<Fill, String> {
        let find = |array| part.elements.iter().find(|it| it.0.array() == Some(array));
        let both = find(image).zip(find(kernel));
        let ((from, _), (of, _)) = both.ok_or("its products are of more than two arrays")?;
        let tap = shape::indices(of, self.operand, weights, &self.counters);
        let tap = tap.ok_or("weights in no order that is known")?;
        let is_column = |it: &&Counter| of.factor(**it) != 0 && from.factor(**it) == 0;
        let (own, mut dims): (Vec<Counter>, Vec<Counter>) = write.dims.iter().partition(is_column);
        if dims.iter().any(|dim| of.factor(*dim) != 0) {
            return Err("each of its results is of weights of its own".to_owned());
        }
        let columns = match own.is_empty() {
            true => None,
            false => Some([depends(place, &own)?, depends(&tap, &own)?]),
        };
        dims.extend(&part.counters);
        Ok(Fill {
            from: from.clone(),
            place: place.to_vec(),
            tap,
            dims,
            columns,
        })
    }

    /// Returns the code that lays inputs side by side.
    fn filling(&self, target: &Affine, fill: &Fill) -> Result<String, String> {
        // The loop over what lies side by side in both is innermost.
        let mut dims = fill.dims.clone();
        dims.sort_by_key(|dim| std::cmp::Reverse(target.factor(*dim)));
        let loops = Loops {
            memories: &self.plain.memories,
            counters: &self.counters,
            dims,
        };
        let [heads, indent, ends] = loops.nest();
        Ok(format!(
            "{heads}{indent}{} = {};\n{ends}",
            loops.element(target, self.operand)?,
            loops.element(&fill.from, self.operand)?
        ))
    }

    /// Returns the two arrays of whose elements all products are.
    fn operands(&self, all: &[Given]) -> Result<[usize; 2], String> {
        let mut found: Option<[usize; 2]> = None;
        for part in all.iter().flat_map(|it| &it.1) {
            let [one, other] = part.elements.as_slice() else {
                continue;
            };
            if part.factor != 1 || [one, other].iter().any(|it| it.1 != self.operand) {
                return Err("its products are not of two operands".to_owned());
            }
            let both = one.0.array().zip(other.0.array());
            let (one, other) = both.ok_or("an address outside all arrays")?;
            let both = [one.min(other), one.max(other)];
            if one == other || *found.get_or_insert(both) != both {
                return Err("its products are of more than two arrays".to_owned());
            }
        }
        found.ok_or_else(|| "no products".to_owned())
    }
}

/// How inputs are laid for weights.
struct Plan {
    image: usize,
    kernel: usize,
    fills: Vec<Fill>,
    /// Elements that are laid.
    laid: i64,
    /// What is added to each sum.
    addends: Vec<Part>,
    /// The dimension of the results that weights depend on, and that of the weights.
    columns: [usize; 2],
}

/// Inputs that are laid side by side.
struct Fill {
    from: Affine,
    /// Indices of the result, and of the weights.
    place: Vec<Affine>,
    tap: Vec<Affine>,
    dims: Vec<Counter>,
    /// The dimension of the results that weights depend on, and that of the weights; nothing
    /// if the write has one column.
    columns: Option<[usize; 2]>,
}

/// Returns what is added to sums of a write, by the counters of all results.
fn everywhere(part: &Part, place: &[Affine], whole: &[Affine]) -> Option<Part> {
    let mut part = part.clone();
    for (address, _) in &mut part.elements {
        *address = shape::everywhere(address, place, whole)?;
    }
    part.counters.is_empty().then_some(part)
}

/// Returns what is added to the sum in a place, of what is added by the counters of all results.
fn at(part: &Part, place: &[Affine], whole: &[Affine]) -> Part {
    let mut part = part.clone();
    for (address, _) in &mut part.elements {
        *address = shape::at(address, place, whole);
    }
    part
}

/// Returns the one dimension in which indices depend on some counters, and on no others.
fn depends(indices: &[Affine], counters: &[Counter]) -> Result<usize, String> {
    let depends = |index: &Affine| counters.iter().any(|it| index.factor(*it) != 0);
    let mut dims = (0..indices.len()).filter(|dim| depends(&indices[*dim]));
    let refused = || "columns of results that are no dimension of theirs".to_owned();
    let dim = dims.next().ok_or_else(refused)?;
    let mut terms = indices[dim].terms.iter();
    if dims.next().is_some() || !terms.all(|term| counters.contains(&term.0)) {
        return Err(refused());
    }
    Ok(dim)
}

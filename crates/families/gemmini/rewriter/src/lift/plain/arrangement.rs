//! How operands and results are laid in memory for the array: as the program has them, or in
//! another order.

use super::affine::Affine;
use super::core_stores::Storing;
use super::element_order::Order;
use super::linear::Part;
use super::region::Write;
use super::sum::Summed;

/// What the core lays in memory in another way before the array works, and behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Arrangement {
    /// Inputs have the elements of a sum side by side.
    pub(super) input: bool,
    /// Weights have the columns of the results side by side.
    pub(super) weights: bool,
    /// Results lie side by side that the same inputs go into.
    pub(super) output: bool,
    /// For each result, the inputs of its sum lie side by side.
    pub(super) patches: bool,
    /// Single rows of results are taken for columns: a matrix that a vector is multiplied with
    /// is the input then, not weights that the array turns at half speed.
    pub(in super::super) columns: bool,
}

impl Arrangement {
    /// All ways, those first that cost the array and the core least.
    pub(in super::super) fn all() -> impl Iterator<Item = Self> {
        let orders = [
            [false, false, false],
            [false, true, false],
            [true, false, false],
            [true, true, false],
            [false, false, true],
            [false, true, true],
            [true, false, true],
            [true, true, true],
        ];
        let orders = orders.into_iter().map(|[input, weights, output]| Self {
            input,
            weights,
            output,
            ..Self::default()
        });
        let patches = [false, true].map(|output| Self {
            output,
            patches: true,
            ..Self::default()
        });
        let columns = Self {
            columns: true,
            ..Self::default()
        };
        std::iter::once(columns).chain(orders).chain(patches)
    }
}

impl Storing<'_> {
    /// Returns the order in which the array leaves results, if it is another.
    pub(super) fn order_of_results(
        &self,
        array: usize,
        all: &[Summed],
    ) -> Result<Option<Order>, String> {
        if !self.laying.output {
            return Ok(None);
        }
        let Some(shaped) = self.shaped(array) else {
            return Ok(None);
        };
        let mut found: Option<Vec<usize>> = None;
        for summed in all {
            let rows = self.only(&summed.write);
            for part in summed.parts.iter().filter(|it| it.elements.len() == 2) {
                let Some(columns) = rows.columns_of_results(part, &shaped)? else {
                    continue;
                };
                if *found.get_or_insert_with(|| columns.clone()) != columns {
                    return Err("its results lie in more than one order".to_owned());
                }
            }
        }
        let columns = found.unwrap_or_default();
        Ok(Order::with_innermost(array, shaped.extents.len(), &columns))
    }

    /// Returns where a result lies in another order.
    pub(super) fn moved(
        &self,
        write: &Write,
        order: &Order,
        array: usize,
    ) -> Result<Affine, String> {
        let shaped = self.shaped(array);
        let place = (write.address.clone(), write.element);
        let moved = shaped.and_then(|it| it.moved(&place, order, (array, write.element)));
        moved.ok_or_else(|| "its results lie in no order that is known".to_owned())
    }

    /// Lays operands in other orders.
    pub(super) fn relay(&mut self, whole: &Write, part: &mut Part) -> Result<(), String> {
        if part.elements.len() != 2 {
            return Ok(());
        }
        for which in [0, 1] {
            let (address, element) = &part.elements[which];
            let turned = address.array().and_then(|array| self.turned.get(&array));
            if let (Some((order, to)), Some(array)) = (turned, address.array()) {
                let shaped = self.shaped(array);
                let place = (address.clone(), *element);
                let moved = shaped.and_then(|it| it.moved(&place, order, (*to, *element)));
                part.elements[which].0 =
                    moved.ok_or("an operand that lies in no order that is known")?;
            }
        }
        if self.laying.input {
            let rows = self.only(whole);
            if let Ok(product) = rows.product(part) {
                let order = |storing: &Self, array| {
                    let shaped = storing.shaped(array)?;
                    let rows = storing.only(whole);
                    rows.order_of_input(part, &product.input, &shaped)
                };
                if let Some(order) = product.input.array().and_then(|array| order(self, array)) {
                    self.lay(part, &order)?;
                }
            }
        }
        if self.laying.weights {
            let rows = self.only(whole);
            if let Ok(product) = rows.product(part) {
                let array = product.weights.array();
                let shaped = array.and_then(|array| self.shaped(array));
                let order = shaped.and_then(|shaped| rows.order_of_weights(part, &shaped));
                if let Some(order) = order {
                    self.lay(part, &order)?;
                }
            }
        }
        Ok(())
    }

    /// Has an operand of a part come from an array in another order.
    fn lay(&mut self, part: &mut Part, order: &Order) -> Result<(), String> {
        let mut elements = part.elements.iter();
        let which = elements.position(|it| it.0.array() == Some(order.array));
        let which = which.ok_or("no operand")?;
        let element = part.elements[which].1;
        let new = self.in_order(order)?;
        let shaped = self.shaped(order.array);
        let moved = shaped.and_then(|it| it.moved(&part.elements[which], order, (new, element)));
        part.elements[which].0 = moved.ok_or("an operand that lies in no order that is known")?;
        Ok(())
    }

    /// Returns the array that has the elements of another in an order.
    pub(super) fn in_order(&mut self, order: &Order) -> Result<usize, String> {
        if let Some(new) = self.orders.get(order) {
            return Ok(*new);
        }
        if self.written.contains(&order.array) {
            return Err("an operand that is written lies in another order".to_owned());
        }
        let new = self.added(order.array, "turned", self.operand, Some(order));
        let names = [order.array, new].map(|it| self.plain.memories[it].name.as_str());
        let shaped = self.shaped(order.array);
        let text = shaped.map(|it| it.laid(names, order, self.operand));
        self.plain.preparation.push_str(&text.unwrap_or_default());
        self.orders.insert(order.clone(), new);
        Ok(new)
    }
}

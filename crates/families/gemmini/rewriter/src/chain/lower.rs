//! From matrices to tiles: what lies where in the scratchpad, which operations
//! of the array compute it, which moves bring and take it.

use super::tiles::{Container, Group, Lowered, Move, Tile};
use crate::graph::{Base, Graph, Statement, View};
use std::collections::BTreeMap;

/// How a matrix that is needed must lie in local memory: as it is, or transposed.
fn lying(view: View, is_turned: bool) -> View {
    if is_turned { view.turned() } else { view }
}

/// Returns whether a move can bring a matrix of memory as it is: neighbours in a
/// row are neighbours in memory.
pub(super) fn is_movable(view: View) -> bool {
    (view.extents[1] == 1 || view.strides[1] == 1) && 0 <= view.strides[0]
}

pub(super) struct Lowering<'graph> {
    graph: &'graph Graph,
    dim: i64,
    /// Columns of the widest move.
    widest: i64,
    /// Values lie transposed: vectors are rows.
    is_turned: bool,
    /// Containers of values, then of what is loaded.
    loaded: BTreeMap<(View, u32), usize>,
    lowered: Lowered,
}

impl<'graph> Lowering<'graph> {
    /// Lowers a graph; `None` if that takes operands that no command can bring.
    pub(super) fn of(
        graph: &'graph Graph,
        dim: i64,
        widest: i64,
        is_turned: bool,
    ) -> Option<Lowered> {
        let mut lowering = Self {
            graph,
            dim,
            widest,
            is_turned,
            loaded: BTreeMap::new(),
            lowered: Lowered::default(),
        };
        for (number, extents) in graph.values.iter().enumerate() {
            let [rows, columns] = *extents;
            lowering.lowered.containers.push(Container {
                extents: if is_turned {
                    [columns, rows]
                } else {
                    [rows, columns]
                },
                value: Some(number),
            });
        }
        for (index, statement) in graph.statements.iter().enumerate() {
            lowering.statement(index, statement)?;
        }
        Some(lowering.lowered)
    }

    fn statement(&mut self, index: usize, statement: &Statement) -> Option<()> {
        let dest = lying(statement.dest, self.is_turned);
        if let ([], [only]) = (statement.products.as_slice(), statement.addends.as_slice())
            && matches!(only.view.base, Base::Memory(_))
            && is_movable(lying(only.view, self.is_turned))
        {
            // Only moved in.
            let source = lying(only.view, self.is_turned);
            let at = self.place(dest)?;
            self.load(source, only.factor, at)?;
        } else {
            let groups = [false, true]
                .into_iter()
                .find_map(|turns| self.groups(index, statement, dest, turns))?;
            self.lowered.groups.extend(groups);
        }
        for store in &statement.stores {
            let (at, target) = (self.place(dest)?, lying(*store, self.is_turned));
            is_movable(target).then_some(())?;
            for one in self.moves(target, 1.0, at) {
                self.lowered.stores.push(one);
            }
        }
        Some(())
    }

    /// Computes a statement's groups with both operands transposed by the array or
    /// not; `None` if operands do not lie so.
    fn groups(
        &mut self,
        index: usize,
        statement: &Statement,
        dest: View,
        turns: bool,
    ) -> Option<Vec<Group>> {
        let before = (self.loaded.clone(), self.lowered.clone());
        let groups = self.try_groups(index, statement, dest, turns);
        if groups.is_none() {
            (self.loaded, self.lowered) = before;
        }
        groups
    }

    fn try_groups(
        &mut self,
        index: usize,
        statement: &Statement,
        dest: View,
        turns: bool,
    ) -> Option<Vec<Group>> {
        // Each product as it is computed: left and right operand.
        let mut pairs: Vec<[Held; 2]> = Vec::new();
        for product in &statement.products {
            let operands = if self.is_turned {
                [product.right.turned(), product.left.turned()]
            } else {
                [product.left, product.right]
            };
            pairs.push(self.pair(operands, product.factor, turns)?);
        }
        let mut first = None;
        for addend in &statement.addends {
            let view = lying(addend.view, self.is_turned);
            if first.is_none() && !turns {
                first = self.held(view, addend.factor, false);
                if first.is_some() {
                    continue;
                }
            }
            let operands = if self.is_turned {
                [View::identity(view.extents[0]), view]
            } else {
                [view, View::identity(view.extents[1])]
            };
            pairs.push(self.pair(operands, addend.factor, turns)?);
        }
        let [rows, columns] = dest.extents;
        let at = self.place(dest)?;
        let mut groups = Vec::new();
        for i in 0..(rows + self.dim - 1) / self.dim {
            for j in 0..(columns + self.dim - 1) / self.dim {
                let mut steps = Vec::new();
                for [left, right] in &pairs {
                    let inner = (left.extents()[1] + self.dim - 1) / self.dim;
                    for k in 0..inner {
                        let is_zero = |held: &Held, at: [i64; 2]| {
                            matches!(held, Held::Identity(_)) && at[0] != at[1]
                        };
                        if is_zero(left, [i, k]) || is_zero(right, [k, j]) {
                            continue;
                        }
                        steps.push([self.tile(left, [i, k])?, self.tile(right, [k, j])?]);
                    }
                }
                let first = match &first {
                    Some(held) => Some(self.tile(held, [i, j])?),
                    None => None,
                };
                (!steps.is_empty()).then_some(())?;
                groups.push(Group {
                    statement: index,
                    dest: self.tile(&at, [i, j])?,
                    first,
                    steps,
                    is_turned: turns,
                });
            }
        }
        Some(groups)
    }

    /// Finds both operands of a product; the factor goes to one that is moved in.
    fn pair(&mut self, operands: [View; 2], factor: f32, turns: bool) -> Option<[Held; 2]> {
        let is_new = |lowering: &Self, at: usize| {
            let lies = lying(operands[at], turns);
            !lowering.loaded.contains_key(&(lies, factor.to_bits()))
        };
        // What is there already is taken; then what is larger, for it stays.
        let size = |at: usize| operands[at].extents.iter().product::<i64>();
        let mut order = [0, 1];
        order.sort_by_key(|at| (is_new(self, *at), -size(*at)));
        for with_factor in order {
            let of = |at: usize| if at == with_factor { factor } else { 1.0 };
            let left = self.held(operands[0], of(0), turns);
            let right = self.held(operands[1], of(1), turns);
            if let (Some(left), Some(right)) = (left, right) {
                return Some([left, right]);
            }
        }
        None
    }

    /// Finds where a matrix lies that the array takes as `view`.
    fn held(&mut self, view: View, factor: f32, turns: bool) -> Option<Held> {
        match view.base {
            Base::Identity => (factor == 1.0).then_some(Held::Identity(view.extents[0])),
            Base::Value(_) => {
                (factor == 1.0).then_some(())?;
                let lies = lying(view, turns);
                let mut held = self.place(lies)?;
                if let Held::At { is_turned, .. } = &mut held {
                    *is_turned = turns;
                }
                Some(held)
            }
            Base::Memory(_) => {
                let lies = lying(view, turns);
                is_movable(lies).then_some(())?;
                let container = match self.loaded.get(&(lies, factor.to_bits())) {
                    Some(container) => *container,
                    None => {
                        let container = self.lowered.containers.len();
                        self.lowered.containers.push(Container {
                            extents: lies.extents,
                            value: None,
                        });
                        self.loaded.insert((lies, factor.to_bits()), container);
                        let at = Held::At {
                            container,
                            corner: [0, 0],
                            extents: lies.extents,
                            is_turned: false,
                        };
                        self.load(lies, factor, at)?;
                        container
                    }
                };
                Some(Held::At {
                    container,
                    corner: [0, 0],
                    extents: lies.extents,
                    is_turned: turns,
                })
            }
        }
    }

    /// Finds a part of a value in its container; `None` if it does not lie there so.
    fn place(&self, lies: View) -> Option<Held> {
        let number = lies.value()?;
        let columns = self.graph.values.get(number)?[1];
        let steps = if self.is_turned {
            [1, columns]
        } else {
            [columns, 1]
        };
        let fits = (0..2).all(|at| lies.extents[at] == 1 || lies.strides[at] == steps[at]);
        let (row, column) = (lies.offset / columns, lies.offset % columns);
        let corner = if self.is_turned {
            [column, row]
        } else {
            [row, column]
        };
        let inside = corner[0] % self.dim;
        let is_aligned =
            corner[1] % self.dim == 0 && (inside == 0 || inside + lies.extents[0] <= self.dim);
        (fits && is_aligned).then_some(Held::At {
            container: number,
            corner,
            extents: lies.extents,
            is_turned: false,
        })
    }

    /// Returns the tile of a matrix, counted in tiles of the operand as it is taken.
    fn tile(&mut self, held: &Held, at: [i64; 2]) -> Option<Tile> {
        let dim = self.dim;
        let Held::At {
            container,
            corner,
            extents,
            is_turned,
        } = *held
        else {
            return Some(self.one());
        };
        let [i, j] = if is_turned { [at[1], at[0]] } else { at };
        let width = (self.lowered.containers.get(container)?.extents[1] + dim - 1) / dim;
        let [row, column] = [corner[0] + i * dim, corner[1] + j * dim];
        let start = (row / dim * width + column / dim) * dim + row % dim;
        let rows = (extents[0] - i * dim).min(dim);
        let columns = (extents[1] - j * dim).min(dim);
        (0 < rows && 0 < columns).then_some(Tile {
            container,
            row: start,
            extents: if is_turned {
                [columns, rows]
            } else {
                [rows, columns]
            },
            rows,
        })
    }

    /// Returns the tile that holds the identity.
    fn one(&mut self) -> Tile {
        let dim = self.dim;
        let view = View::new(Base::Identity, 0, [dim, 1], [dim, dim]);
        let known = self.loaded.get(&(view, 0)).copied();
        let tile = |container| Tile {
            container,
            row: 0,
            extents: [dim, dim],
            rows: dim,
        };
        if let Some(container) = known {
            return tile(container);
        }
        let container = self.lowered.containers.len();
        self.lowered.containers.push(Container {
            extents: [dim, dim],
            value: None,
        });
        self.loaded.insert((view, 0), container);
        self.lowered.loads.push(Move {
            array: None,
            offset: 0,
            stride: dim,
            factor: 1.0,
            tile: tile(container),
        });
        tile(container)
    }

    fn load(&mut self, source: View, factor: f32, at: Held) -> Option<()> {
        is_movable(source).then_some(())?;
        for one in self.moves(source, factor, at) {
            self.lowered.loads.push(one);
        }
        Some(())
    }

    /// Returns the moves between a matrix in memory and one in the scratchpad.
    fn moves(&mut self, memory: View, factor: f32, at: Held) -> Vec<Move> {
        let Base::Memory(array) = memory.base else {
            return Vec::new();
        };
        let [rows, columns] = memory.extents;
        let mut moves = Vec::new();
        for i in 0..(rows + self.dim - 1) / self.dim {
            for start in (0..columns).step_by(self.widest as usize) {
                let Some(mut tile) = self.tile(&at, [i, start / self.dim]) else {
                    continue;
                };
                tile.extents[1] = (columns - start).min(self.widest);
                moves.push(Move {
                    array: Some(array),
                    offset: memory.offset + i * self.dim * memory.strides[0] + start,
                    stride: memory.strides[0],
                    factor,
                    tile,
                });
            }
        }
        moves
    }
}

/// Where an operand lies.
#[derive(Clone, Copy, Debug)]
enum Held {
    Identity(i64),
    At {
        container: usize,
        /// First row and column, as it lies.
        corner: [i64; 2],
        /// Rows and columns, as it lies.
        extents: [i64; 2],
        /// It is taken transposed.
        is_turned: bool,
    },
}

impl Held {
    /// Returns rows and columns as it is taken.
    fn extents(&self) -> [i64; 2] {
        match *self {
            Self::Identity(rows) => [rows, rows],
            Self::At {
                extents: [rows, columns],
                is_turned,
                ..
            } => {
                if is_turned {
                    [columns, rows]
                } else {
                    [rows, columns]
                }
            }
        }
    }
}

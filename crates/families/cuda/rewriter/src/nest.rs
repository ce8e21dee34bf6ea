//! What a launch computes: points, each by itself, whoever computes them.

use crate::expression::{Expression, folded};
use crate::kinds::bytes_of;
use crate::read::{AXES, Parameter, Thread};
use crate::step::{self, Step};
use autocomp_c_loops::affine::{Affine, Atom};
use autocomp_nests::Refusal;
use std::collections::BTreeMap;

/// A coordinate of the points, from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub name: String,
    pub extent: i64,
}

/// What a launch computes.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    /// Name of the kernel.
    pub kernel: String,
    pub parameters: Vec<Parameter>,
    /// Types of variables.
    pub kinds: BTreeMap<String, String>,
    /// Elements of arrays, as far as they are known.
    pub extents: BTreeMap<String, i64>,
    /// The outermost first.
    pub points: Vec<Point>,
    /// What is done for each point. Loops at the top go over elements that the threads of a block
    /// may share.
    pub steps: Vec<Step>,
    /// The coordinate that says which part of its loop a point does, if one does.
    pub split: Option<String>,
}

/// Makes points of blocks and threads.
///
/// # Errors
/// What is not understood.
pub(crate) fn nest(kernel: &str, thread: Thread) -> Result<Nest, Refusal> {
    let line = thread.line;
    let refused = |why: &str| Refusal {
        line: Some(line),
        why: format!("is a kernel that {why}"),
    };
    let (grid, block) = (thread.grid, thread.block);
    let thread = crate::together::separated(thread).map_err(|why| refused(&why))?;
    let mut nest = Nest {
        kernel: kernel.to_owned(),
        parameters: thread.parameters,
        kinds: thread.kinds,
        extents: BTreeMap::new(),
        points: Vec::new(),
        steps: thread.steps,
        split: thread.split,
    };
    let blocks = match thread.is_spread {
        true if step::any(
            &nest.steps,
            &|it| matches!(it, Expression::Index(index) if index.mentions("bx")),
        ) =>
        {
            return Err(refused(
                "shares a loop among all blocks and does something else in each",
            ));
        }
        true => [1, grid[1], grid[2]],
        false => grid,
    };
    let block = if thread.is_joint { [1; 3] } else { block };
    nest.share_out(blocks, block);
    nest.bound();
    nest.order();
    nest.merge();
    nest.flatten();
    let Nest { points, steps, .. } = &nest;
    let mut found: Result<(), String> = Ok(());
    let mut stores = 0;
    step::walk(steps, &mut |it| match it {
        Step::Store { array, index, .. } => {
            stores += 1;
            let missing = points
                .iter()
                .find(|point| !index.mentions_index(&point.name));
            if let Some(point) = missing {
                found = Err(format!(
                    "stores to `{array}` in several threads at once, or along a coordinate ({}) that its index does not show",
                    point.name
                ));
            }
        }
        Step::Atomic { .. } => stores += 1,
        Step::Barrier | Step::Tree { .. } => {
            found = Err("has a barrier in a place that is not understood".to_owned());
        }
        _ => {}
    });
    if stores == 0 {
        found = Err("stores nothing".to_owned());
    }
    found.map_err(|why| refused(&why))?;
    Ok(nest)
}

impl Nest {
    /// Makes coordinates of blocks and threads: one of each pair that only occurs as the index of a
    /// thread among those of all blocks.
    fn share_out(&mut self, grid: [i64; 3], block: [i64; 3]) {
        let mut blocks: Vec<usize> = (0..3).filter(|it| 1 < grid[*it]).collect();
        for (axis, letter) in AXES.iter().enumerate() {
            if block[axis] == 1 {
                continue;
            }
            // Blocks of the same axis first.
            blocks.sort_by_key(|it| *it != axis);
            let fused = blocks
                .iter()
                .position(|it| self.fuse(*it, axis, grid[*it], block[axis]));
            match fused {
                Some(at) => {
                    blocks.remove(at);
                }
                None => self.points.push(Point {
                    name: format!("t{letter}"),
                    extent: block[axis],
                }),
            }
        }
        for axis in blocks {
            self.points.push(Point {
                name: format!("b{}", AXES[axis]),
                extent: grid[axis],
            });
        }
    }

    /// Makes one coordinate of blocks and threads; tells whether that is possible.
    fn fuse(&mut self, of_grid: usize, of_block: usize, grid: i64, block: i64) -> bool {
        let (b, t) = (
            format!("b{}", AXES[of_grid]),
            format!("t{}", AXES[of_block]),
        );
        let g = format!("g{}", AXES[of_block]);
        let of_blocks = Affine::variable(&b).times(block);
        let Some(value) = of_blocks.and_then(|it| Affine::variable(&g).minus(&it)) else {
            return false;
        };
        let is_of = |it: &Expression| matches!(it, Expression::Index(index) if index.mentions(&b));
        if !step::any(&self.steps, &is_of) {
            return false;
        }
        let steps = self.with_index(&t, &value);
        if step::any(&steps, &is_of) {
            return false;
        }
        self.steps = steps;
        self.points.push(Point {
            name: g,
            extent: grid * block,
        });
        true
    }

    fn with_index(&self, name: &str, value: &Affine) -> Vec<Step> {
        step::mapped(&self.steps, &|it| it.with_index(name, value))
    }

    /// Takes conditions around everything as bounds of the points.
    fn bound(&mut self) {
        while let Some(Step::If {
            condition,
            then,
            otherwise,
        }) = self.steps.last().cloned()
        {
            if !otherwise.is_empty() {
                return;
            }
            let mut left = Vec::new();
            for part in conjuncts(&condition) {
                let bounded = constraint(part).and_then(|it| self.below(&it));
                match bounded {
                    Some((at, extent)) => {
                        let point = &mut self.points[at];
                        point.extent = point.extent.min(extent);
                    }
                    None => left.push(part.clone()),
                }
            }
            self.steps.pop();
            let left = left
                .into_iter()
                .reduce(|a, b| Expression::binary(a, "&&", b));
            match left {
                None => self.steps.extend(then),
                Some(condition) => {
                    self.steps.push(Step::If {
                        condition,
                        then,
                        otherwise,
                    });
                    return;
                }
            }
        }
    }

    /// Reads `0 <= constant - point`.
    fn below(&self, least: &Affine) -> Option<(usize, i64)> {
        let mut terms = least.terms();
        let (Some((Atom::Variable(name), -1)), None) = (terms.next(), terms.next()) else {
            return None;
        };
        let at = self.points.iter().position(|it| it.name == *name)?;
        Some((at, least.constant_part() + 1)).filter(|it| 0 < it.1)
    }

    /// Puts the coordinate along which stores lie side by side last.
    fn order(&mut self) {
        let mut steps = BTreeMap::new();
        step::walk(&self.steps, &mut |it| {
            if let Step::Store {
                index: Expression::Index(index),
                ..
            } = it
            {
                for point in &self.points {
                    let size = crate::expression::coefficient(index, &point.name);
                    let size = size.map_or(1, i64::abs);
                    steps.entry(point.name.clone()).or_insert(size);
                }
            }
        });
        self.points
            .sort_by_key(|it| std::cmp::Reverse(steps.get(&it.name).copied().unwrap_or(0)));
    }

    /// Makes one coordinate of two that only occur as the index of a whole row of both.
    fn merge(&mut self) {
        let mut at = 0;
        while at + 1 < self.points.len() {
            let (outer, inner) = (self.points[at].clone(), self.points[at + 1].clone());
            let Some(value) = Affine::variable(&outer.name)
                .times(inner.extent)
                .and_then(|it| {
                    Affine::variable(&format!("{}{}", outer.name, inner.name)).minus(&it)
                })
            else {
                return;
            };
            let steps = self.with_index(&inner.name, &value);
            let is_left = |it: &Expression| matches!(it, Expression::Index(index) if index.mentions(&outer.name));
            if step::any(&steps, &is_left) || self.split.is_some() {
                at += 1;
                continue;
            }
            self.steps = steps;
            self.points.splice(
                at..at + 2,
                [Point {
                    name: format!("{}{}", outer.name, inner.name),
                    extent: outer.extent * inner.extent,
                }],
            );
        }
    }

    /// Makes a point of each iteration of a loop that is all there is and joins nothing.
    fn flatten(&mut self) {
        if let [
            Step::Loop {
                variable,
                start,
                end,
                step: 1,
                body,
            },
        ] = self.steps.as_slice()
            && self.split.is_none()
            && start.as_constant() == Some(0)
            && let Some(extent) = end.as_constant()
            && 1 < extent
        {
            let mut assigned = false;
            let mut declared = std::collections::BTreeSet::new();
            step::walk(body, &mut |it| match it {
                Step::Let { name, .. } => {
                    declared.insert(name.clone());
                }
                Step::Assign { name, .. } => assigned |= !declared.contains(name),
                _ => {}
            });
            let shows = |it: &Step| match it {
                Step::Store { index, .. } => index.mentions_index(variable),
                _ => true,
            };
            let mut all = !assigned;
            step::walk(body, &mut |it| all &= shows(it));
            if all {
                self.points.push(Point {
                    name: variable.clone(),
                    extent,
                });
                self.steps = body.clone();
                self.order();
                self.merge();
            }
        }
    }

    /// Returns the type of an array's elements.
    pub(crate) fn kind_of(&self, array: &str) -> &str {
        let found = self.parameters.iter().find(|it| it.name == array);
        found.map_or("float", |it| it.kind.as_str())
    }

    /// Returns the bytes of an array's element.
    pub(crate) fn bytes_of(&self, array: &str) -> i64 {
        bytes_of(self.kind_of(array)).unwrap_or(4)
    }

    /// Returns the arrays that are written.
    pub(crate) fn written(&self) -> Vec<String> {
        let mut found = Vec::new();
        step::walk(&self.steps, &mut |it| match it {
            Step::Store { array, .. } | Step::Atomic { array, .. } if !found.contains(array) => {
                found.push(array.clone());
            }
            _ => {}
        });
        found
    }

    /// Returns how many points there are.
    pub(crate) fn count(&self) -> i64 {
        self.points.iter().map(|it| it.extent).product()
    }

    /// Returns the arrays that are read or written, and the numbers that are read.
    fn used(&self) -> Vec<&Parameter> {
        let written = self.written();
        let is_read = |name: &str| {
            step::any(
                &self.steps,
                &|it| matches!(it, Expression::Load(found, _) | Expression::Text(found) if found == name),
            )
        };
        let used = self.parameters.iter();
        used.filter(|it| written.contains(&it.name) || is_read(&it.name))
            .collect()
    }

    /// Returns the parameters of a kernel for it.
    pub(crate) fn parameters_to_c(&self) -> String {
        let written = self.written();
        let each = self.used().into_iter().map(|it| {
            if !it.is_array {
                return format!("const {} {}", it.kind, it.name);
            }
            let constant = if written.contains(&it.name) {
                ""
            } else {
                "const "
            };
            format!("{constant}{}* __restrict__ {}", it.kind, it.name)
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns what a launch of it is given.
    pub(crate) fn arguments_to_c(&self) -> String {
        let each = self.used().into_iter().map(|it| it.given.as_str());
        each.collect::<Vec<_>>().join(", ")
    }

    /// Returns the name that the host function has for an array.
    pub(crate) fn given<'n>(&'n self, array: &'n str) -> &'n str {
        let found = self.parameters.iter().find(|it| it.name == array);
        found.map_or(array, |it| it.given.as_str())
    }
}

/// Returns the parts of a condition that must all hold.
pub(crate) fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    match condition {
        Expression::Binary(left, operator, right) if operator == "&&" => {
            let mut found = conjuncts(left);
            found.extend(conjuncts(right));
            found
        }
        other => vec![other],
    }
}

/// Returns what must not be negative.
pub(crate) fn constraint(condition: &Expression) -> Option<Affine> {
    let Expression::Binary(left, operator, right) = condition else {
        return None;
    };
    let difference = |a: &Expression, b: &Expression| match folded(a.clone(), "-", b.clone()) {
        Expression::Index(index) => Some(index),
        _ => None,
    };
    match operator.as_str() {
        "<" => difference(right, left)?.plus_constant(-1),
        "<=" => difference(right, left),
        ">" => difference(left, right)?.plus_constant(-1),
        ">=" => difference(left, right),
        _ => None,
    }
}

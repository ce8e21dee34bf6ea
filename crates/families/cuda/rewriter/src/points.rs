//! Points, each by itself: several of them for a thread, so that elements are loaded as vectors and
//! what was loaded serves several results.

use crate::GpuResources;
use crate::expression::{Along, Expression, along};
use crate::nest::Nest;
use crate::rows::certain;
use crate::step::{self, Step};
use crate::written::{Written, vector_type};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How points are computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Threads of a block along the last coordinate.
    pub across: i64,
    /// Threads of a block along the one before.
    pub down: i64,
    /// Elements of the last coordinate that a thread loads and stores at once.
    pub vector: i64,
    /// Points of a thread along each coordinate; those along the last are a block apart.
    pub each: Vec<i64>,
}

/// Returns whether a nest is computed point by point.
pub(crate) fn is_of_points(nest: &Nest) -> bool {
    fn is_known(step: &Step) -> bool {
        match step {
            Step::Let { .. } | Step::Assign { .. } | Step::Store { .. } => true,
            Step::If {
                then, otherwise, ..
            } => then
                .iter()
                .chain(otherwise)
                .all(|it| is_known(it) && !matches!(it, Step::Loop { .. })),
            Step::Loop { body, .. } => body.iter().all(is_known),
            _ => false,
        }
    }
    let read_and_written = nest.written().into_iter().any(|array| {
        // Elements that a point reads may be those that another one writes, unless they are its own.
        let mut own = BTreeSet::new();
        step::walk(&nest.steps, &mut |it| {
            if let Step::Store {
                array: of, index, ..
            } = it
                && *of == array
            {
                own.insert(index.to_c());
            }
        });
        let mut other = false;
        step::expressions(&nest.steps, &mut |it| {
            other |= it
                .loads()
                .iter()
                .any(|(of, index)| **of == array && !own.contains(&index.to_c()));
        });
        other
    });
    !nest.points.is_empty()
        && nest.split.is_none()
        && !read_and_written
        && nest.steps.iter().all(is_known)
}

impl Points {
    /// Returns the ways in which points can be computed.
    pub(crate) fn all(nest: &Nest) -> Vec<Self> {
        if !is_of_points(nest) {
            return Vec::new();
        }
        let Some((last, outer)) = nest.points.split_last() else {
            return Vec::new();
        };
        let has_loops = nest.steps.iter().any(|it| matches!(it, Step::Loop { .. }));
        let mut copies: Vec<Vec<i64>> = vec![Vec::new()];
        for point in outer {
            let counts: &[i64] = if has_loops || 1 < outer.len() {
                &[1, 2, 4, 8]
            } else {
                &[1, 2, 4]
            };
            copies = copies
                .into_iter()
                .flat_map(|known| {
                    counts
                        .iter()
                        .filter(|it| **it == 1 || **it * 2 <= point.extent)
                        .map(move |count| known.iter().copied().chain([*count]).collect())
                })
                .filter(|it: &Vec<i64>| it.iter().product::<i64>() <= 16)
                .collect();
        }
        let mut found = Vec::new();
        for vector in [1, 2, 4] {
            if vector != 1 && !Self::fits_vector(nest, vector) {
                continue;
            }
            for (across, down) in [
                (32, 4),
                (32, 8),
                (64, 4),
                (128, 1),
                (256, 1),
                (16, 16),
                (512, 1),
            ] {
                if outer.is_empty() && 1 < down || last.extent * 2 <= across * vector && 32 < across
                {
                    continue;
                }
                if let Some(before) = outer.last()
                    && before.extent * 2 <= down
                {
                    continue;
                }
                for more in [1, 2, 4] {
                    if last.extent < across * vector * more && 1 < more {
                        continue;
                    }
                    for known in &copies {
                        let mut each = known.clone();
                        each.push(more);
                        if each.iter().product::<i64>() * vector <= 32 {
                            found.push(Self {
                                across,
                                down,
                                vector,
                                each,
                            });
                        }
                    }
                }
            }
        }
        found
    }

    fn fits_vector(nest: &Nest, vector: i64) -> bool {
        let Some(last) = nest.points.last() else {
            return false;
        };
        let is_tailed = last.extent % vector != 0;
        if is_tailed
            && (1 < nest.points.len()
                || nest.steps.iter().any(|it| matches!(it, Step::Loop { .. })))
        {
            return false;
        }
        let mut fits = false;
        step::walk(&nest.steps, &mut |it| {
            if let Step::Store {
                array,
                index: Expression::Index(index),
                ..
            } = it
            {
                let is_beside = along(index, &last.name, last.extent, vector) == Along::Beside;
                fits |= is_beside && vector_type(nest.kind_of(array), vector).is_some();
            }
        });
        fits
    }

    /// Returns an estimate in nanoseconds for a machine.
    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let Some(last) = nest.points.last() else {
            return f64::INFINITY;
        };
        let points = nest.count() as f64;
        let per_thread = (self.each.iter().product::<i64>() * self.vector) as f64;
        let threads = points / per_thread;
        // Requests of a thread, with what several of its points share counted once.
        let mut requests = 0.0;
        let mut flops = 0.0;
        let mut traffic = 0.0;
        let mut waits = 0.0;
        let mut count = |steps: &[Step], trips: f64| {
            let mut seen = BTreeSet::new();
            step::expressions(steps, &mut |it| {
                it.walk(&mut |part| match part {
                    Expression::Load(array, index)
                        if seen.insert((array.clone(), index.to_c())) =>
                    {
                        let mut copies = 1.0;
                        for (point, each) in nest.points.iter().zip(&self.each) {
                            if index.mentions_index(&point.name) {
                                copies *= *each as f64;
                            }
                        }
                        let width = match index
                            .as_index()
                            .map(|it| along(it, &last.name, last.extent, self.vector.max(2)))
                        {
                            Some(Along::Beside) => 1.0 + 0.25 * (self.vector as f64 - 1.0),
                            Some(Along::Same) => 1.0,
                            _ => 8.0 * self.vector as f64,
                        };
                        requests += trips * copies * width;
                        // What no other point reads comes from memory.
                        let is_own = nest.points.iter().all(|it| index.mentions_index(&it.name));
                        if trips == 1.0 || is_own {
                            traffic += trips * copies * self.vector as f64 * 4.0;
                        }
                        if 1.0 < trips && is_own {
                            waits += trips * copies * 40.0;
                        }
                    }
                    Expression::Binary(..) | Expression::Call(..) => flops += trips * per_thread,
                    _ => {}
                });
            });
        };
        fn descend(steps: &[Step], trips: f64, count: &mut dyn FnMut(&[Step], f64)) {
            let mut flat = Vec::new();
            for step in steps {
                match step {
                    Step::Loop {
                        start,
                        end,
                        step,
                        body,
                        ..
                    } => {
                        let first = start.as_constant().unwrap_or(0);
                        let last = end.as_constant().unwrap_or(64);
                        let times = ((last - first) as f64 / *step as f64).max(1.0);
                        descend(body, trips * times, count);
                    }
                    Step::If { then, .. } => {
                        flat.push(step.clone());
                        let _ = then;
                    }
                    other => flat.push(other.clone()),
                }
            }
            count(&flat, trips);
        }
        descend(&nest.steps, 1.0, &mut count);
        let stores = points * 4.0;
        let warps = threads / 32.0;
        let own = flops / per_thread;
        let issue =
            warps * (requests * 2.0 + flops / 1.5) / (machine.sms * 4.0 * machine.clock_ghz);
        let l1 = warps * requests * 2.0 / (machine.sms * machine.clock_ghz);
        let dram = (threads * traffic + stores) / machine.dram_bytes_per_ns;
        // What one thread needs by itself.
        let trips = own / 4.0;
        let alone =
            (requests * 1.5 + flops * 1.2 + trips * 10.0 + waits + 900.0) / machine.clock_ghz;
        let whole =
            last.extent % (self.across * self.vector * self.each.last().copied().unwrap_or(1)) == 0;
        let narrow = if whole { 1.0 } else { 1.05 };
        let narrow = narrow * [1.06, 1.02, 1.0][(self.vector.trailing_zeros() as usize).min(2)];
        (issue.max(l1).max(dram).max(alone) + 0.2 * (issue + l1 + dram)) * narrow
            + machine.launch_ns
    }

    /// Writes a kernel and its launch.
    pub(crate) fn write(&self, nest: &Nest, name: &str) -> Option<Written> {
        if !is_of_points(nest) || self.each.len() != nest.points.len() {
            return None;
        }
        if 1 < self.vector && !Self::fits_vector(nest, self.vector) {
            return None;
        }
        let last = nest.points.last()?;
        let mut writer = Writer {
            nest,
            points: self,
            text: Text::default(),
            vectors: 0,
        };
        let threads = self.across * self.down;
        writer.text.open(&format!(
            "__global__ void __launch_bounds__({threads}) {name}({})",
            nest.parameters_to_c()
        ));
        let mut blocks = 1;
        let count = nest.points.len();
        let whole = |it: i64| (it + 1) - 1;
        for (at, (point, each)) in nest.points.iter().zip(&self.each).enumerate().rev() {
            let (many, first) = if at + 1 == count {
                (
                    self.across * self.vector * each,
                    format!("threadIdx.x{}", times(self.vector)),
                )
            } else if at + 2 == count {
                let own = if self.down == 1 {
                    String::new()
                } else {
                    format!("threadIdx.y{}", times(*each))
                };
                (self.down * each, own)
            } else {
                (*each, String::new())
            };
            let of_axis = (point.extent + many - 1) / many;
            let block = match (blocks, at) {
                (1, 0) => "blockIdx.x".to_owned(),
                (1, _) => format!("blockIdx.x % {of_axis}"),
                (_, 0) => format!("blockIdx.x / {blocks}"),
                _ => format!("blockIdx.x / {blocks} % {of_axis}"),
            };
            let block = format!("{block}{}", times(whole(many)));
            let sum = if first.is_empty() {
                block
            } else {
                format!("{block} + {first}")
            };
            writer
                .text
                .line(&format!("const int {} = {sum};", point.name));
            blocks *= of_axis;
        }
        if last.extent % self.vector == 0 {
            writer.steps(&nest.steps)?;
        } else {
            // The last vector is not full.
            writer.text.open(&format!(
                "if ({} + {} <= {})",
                last.name,
                self.vector * self.reach(),
                last.extent
            ));
            writer.unguarded(&nest.steps)?;
            writer.text.close();
            writer.text.open("else");
            let single = Self {
                vector: 1,
                each: vec![1],
                ..self.clone()
            };
            let mut rest = Writer {
                nest,
                points: &single,
                text: Text::default(),
                vectors: writer.vectors,
            };
            let more = self.each.first()?;
            writer
                .text
                .line(&format!("for (int unit = 0; unit < {more}; unit++)"));
            writer
                .text
                .open(&format!("for (int e = 0; e < {}; e++)", self.vector));
            writer.text.line(&format!(
                "const int own = {} + unit * {} + e;",
                last.name,
                self.across * self.vector
            ));
            writer.text.open(&format!("if (own < {})", last.extent));
            let own = Affine::variable("own");
            let steps = step::mapped(&nest.steps, &|it| it.with_index(&last.name, &own));
            rest.unguarded(&steps)?;
            writer.text.take(&rest.text.lines);
            writer.text.close();
            writer.text.close();
            writer.text.close();
        }
        writer.text.close();
        let block = match self.down {
            1 => self.across.to_string(),
            down => format!("dim3({}, {down})", self.across),
        };
        Some(Written {
            functions: writer.text.lines,
            host: vec![format!(
                "{name}<<<{blocks}, {block}>>>({});",
                nest.arguments_to_c()
            )],
        })
    }

    /// Returns how far from a thread's first element its last vector begins, in vectors.
    fn reach(&self) -> i64 {
        (self.each.last().copied().unwrap_or(1) - 1) * self.across + 1
    }
}

fn times(factor: i64) -> String {
    match factor {
        1 => String::new(),
        factor => format!(" * {factor}"),
    }
}

struct Writer<'n> {
    nest: &'n Nest,
    points: &'n Points,
    text: Text,
    vectors: usize,
}

/// A dimension of the points of a thread.
struct Copies {
    counter: String,
    count: i64,
}

impl Writer<'_> {
    /// Returns the dimensions of a thread's points, without that of a vector.
    fn copies(&self) -> Vec<Copies> {
        let all = self
            .points
            .each
            .iter()
            .enumerate()
            .map(|(at, count)| Copies {
                counter: format!("m{at}"),
                count: *count,
            });
        all.filter(|it| 1 < it.count).collect()
    }

    /// Returns where the point of the counters is along each coordinate.
    fn moved(&self) -> Option<Vec<(String, Affine)>> {
        let count = self.nest.points.len();
        let each = self.nest.points.iter().zip(&self.points.each).enumerate();
        each.map(|(at, (point, copies))| {
            let mut place = Affine::variable(&point.name);
            let counter = Affine::variable(&format!("m{at}"));
            let is_last = at + 1 == count;
            if 1 < *copies {
                let by = if is_last {
                    self.points.across * self.points.vector
                } else {
                    1
                };
                place = place.plus(&counter.times(by)?)?;
            }
            if is_last && 1 < self.points.vector {
                place = place.plus(&Affine::variable("e"))?;
            }
            Some((point.name.clone(), place))
        })
        .collect()
    }

    /// Returns the condition that the point of the counters exists; none if it always does.
    fn inside(&self) -> Option<String> {
        let count = self.nest.points.len();
        let mut parts = Vec::new();
        for (at, (point, copies)) in self.nest.points.iter().zip(&self.points.each).enumerate() {
            let (many, by) = if at + 1 == count {
                (
                    self.points.across * self.points.vector * copies,
                    self.points.across * self.points.vector,
                )
            } else if at + 2 == count {
                (self.points.down * copies, 1)
            } else {
                (*copies, 1)
            };
            if point.extent % many == 0 {
                continue;
            }
            let own = match copies {
                1 => point.name.clone(),
                _ => format!("{} + m{at}{}", point.name, times(by)),
            };
            parts.push(format!("{own} < {}", point.extent));
        }
        (!parts.is_empty()).then(|| parts.join(" && "))
    }

    fn steps(&mut self, steps: &[Step]) -> Option<()> {
        let guard = self.inside();
        self.all(steps, guard.as_deref(), steps)
    }

    fn unguarded(&mut self, steps: &[Step]) -> Option<()> {
        self.all(steps, None, steps)
    }

    /// Writes steps: runs of simple ones for each point, loops around all points.
    fn all(&mut self, steps: &[Step], guard: Option<&str>, whole: &[Step]) -> Option<()> {
        let mut run: Vec<Step> = Vec::new();
        for step in steps {
            match step {
                Step::Loop {
                    variable,
                    start,
                    end,
                    step,
                    body,
                } => {
                    self.run(&std::mem::take(&mut run), guard, whole)?;
                    for (point, copies) in self.nest.points.iter().zip(&self.points.each) {
                        let is_copied = 1 < *copies
                            || point.name == self.nest.points.last()?.name
                                && 1 < self.points.vector;
                        if is_copied && (start.mentions(&point.name) || end.mentions(&point.name)) {
                            return None;
                        }
                    }
                    let trips = end.minus(start)?.as_constant();
                    if trips.is_some_and(|it| it <= 4 * step) {
                        self.text.line("#pragma unroll");
                    } else if !body.iter().any(|it| matches!(it, Step::Loop { .. })) {
                        self.text.line("#pragma unroll 4");
                    }
                    let by = if *step == 1 {
                        format!("{variable}++")
                    } else {
                        format!("{variable} += {step}")
                    };
                    self.text.open(&format!(
                        "for (int {variable} = {}; {variable} < {}; {by})",
                        start.to_c(),
                        end.to_c()
                    ));
                    self.all(body, guard, whole)?;
                    self.text.close();
                }
                other => run.push(other.clone()),
            }
        }
        self.run(&run, guard, whole)
    }

    /// Writes simple steps for each point of the thread.
    fn run(&mut self, run: &[Step], guard: Option<&str>, whole: &[Step]) -> Option<()> {
        if run.is_empty() {
            return Some(());
        }
        let vector = self.points.vector;
        let copies = self.copies();
        let mut dimensions: Vec<(String, i64)> = copies
            .iter()
            .map(|it| (it.counter.clone(), it.count))
            .collect();
        if 1 < vector {
            dimensions.push(("e".into(), vector));
        }
        // Variables that other steps need, too, have a place for each point.
        let mut shared = Vec::new();
        let mut declared = Vec::new();
        step::walk(run, &mut |it| {
            if let Step::Let { kind, name, .. } = it {
                declared.push((kind.clone(), name.clone()));
            }
        });
        for (kind, name) in &declared {
            if mentions(run, name) < mentions(whole, name) {
                let sizes: String = dimensions.iter().map(|it| format!("[{}]", it.1)).collect();
                self.text.line(&format!("{kind} {name}{sizes};"));
                shared.push(name.clone());
            }
        }
        let local: BTreeSet<&String> = declared
            .iter()
            .map(|it| &it.1)
            .filter(|it| !shared.contains(it))
            .collect();
        let subscript: String = dimensions.iter().map(|it| format!("[{}]", it.0)).collect();
        for dimension in &copies {
            self.text.line("#pragma unroll");
            self.text.open(&format!(
                "for (int {0} = 0; {0} < {1}; {0}++)",
                dimension.counter, dimension.count
            ));
        }
        if let Some(guard) = guard {
            self.text.open(&format!("if ({guard})"));
        }
        let moved = self.moved()?;
        let moved_first: Vec<(String, Affine)> = moved
            .iter()
            .map(|(name, it)| Some((name.clone(), it.substitute("e", &Affine::constant(0))?)))
            .collect::<Option<_>>()?;
        let at = |it: &Expression, places: &[(String, Affine)]| {
            it.map(&|part| match part {
                Expression::Index(affine) => Some(Expression::Index(substituted(affine, places)?)),
                _ => None,
            })
        };
        let last = self.nest.points.last()?.clone();
        let extent = last.extent / vector * vector;
        let mut loaded: Vec<(Expression, String)> = Vec::new();
        if 1 < vector {
            let mut wanted = Vec::new();
            certain(run, &mut |it| {
                if let Expression::Load(array, index) = it
                    && let Some(index) = index.as_index()
                    && along(index, &last.name, extent, vector) == Along::Beside
                    && !wanted.contains(&(array.clone(), index.clone()))
                {
                    wanted.push((array.clone(), index.clone()));
                }
            });
            for (array, index) in wanted {
                let kind = self.nest.kind_of(&array).to_owned();
                let Some(wide) = vector_type(&kind, vector) else {
                    continue;
                };
                let place = format!("v{}", self.vectors);
                self.vectors += 1;
                let from = substituted(&index, &moved_first)?;
                self.text
                    .line(&format!("__align__(16) {kind} {place}[{vector}];"));
                self.text.line(&format!(
                    "*({wide}*){place} = *(const {wide}*)&{array}[{}];",
                    from.to_c()
                ));
                loaded.push((
                    Expression::Load(array, Box::new(Expression::Index(index))),
                    format!("{place}[e]"),
                ));
            }
        }
        let mut behind = Vec::new();
        let mut steps = Vec::new();
        for step in run {
            if let Step::Store {
                array,
                index: Expression::Index(index),
                value,
            } = step
                && 1 < vector
                && along(index, &last.name, extent, vector) == Along::Beside
                && let Some(wide) = vector_type(self.nest.kind_of(array), vector)
            {
                let place = format!("v{}", self.vectors);
                self.vectors += 1;
                let to = substituted(index, &moved_first)?;
                self.text.line(&format!(
                    "__align__(16) {} {place}[{vector}];",
                    self.nest.kind_of(array)
                ));
                behind.push(format!(
                    "*({wide}*)&{array}[{}] = *({wide}*){place};",
                    to.to_c()
                ));
                steps.push(Step::Assign {
                    name: format!("{place}[e]"),
                    value: value.clone(),
                });
            } else {
                steps.push(step.clone());
            }
        }
        if 1 < vector {
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int e = 0; e < {vector}; e++)"));
        }
        let of = |it: &Expression| {
            let value = it.map(&|part| {
                loaded
                    .iter()
                    .find(|known| known.0 == *part)
                    .map(|known| Expression::Text(known.1.clone()))
            });
            let value = at(&value, &moved);
            value.map(&|part| match part {
                Expression::Scalar(name)
                    if !local.contains(name) && self.nest.kinds.contains_key(name) =>
                {
                    Some(Expression::Text(format!("{name}{subscript}")))
                }
                _ => None,
            })
        };
        let placed = |name: &str| match local.iter().any(|it| *it == name) || name.ends_with(']') {
            true => name.to_owned(),
            false => format!("{name}{subscript}"),
        };
        let mut lines = Text::default();
        plain(&steps, &of, &placed, &shared, &mut lines);
        self.text.take(&lines.lines);
        if 1 < vector {
            self.text.close();
        }
        self.text.take(&behind);
        if guard.is_some() {
            self.text.close();
        }
        for _ in &copies {
            self.text.close();
        }
        Some(())
    }
}

/// Writes steps as they are.
pub(crate) fn plain(
    steps: &[Step],
    of: &dyn Fn(&Expression) -> Expression,
    placed: &dyn Fn(&str) -> String,
    declared: &[String],
    text: &mut Text,
) {
    for step in steps {
        match step {
            Step::Let { kind, name, value } => {
                let value = value.as_ref().map(|it| of(it).to_c());
                match (declared.contains(name), value) {
                    (true, Some(value)) => text.line(&format!("{} = {value};", placed(name))),
                    (true, None) => {}
                    (false, Some(value)) => text.line(&format!("{kind} {name} = {value};")),
                    (false, None) => text.line(&format!("{kind} {name};")),
                }
            }
            Step::Assign { name, value } => {
                text.line(&format!("{} = {};", placed(name), of(value).to_c()))
            }
            Step::Store {
                array,
                index,
                value,
            } => {
                text.line(&format!(
                    "{array}[{}] = {};",
                    of(index).to_c(),
                    of(value).to_c()
                ));
            }
            Step::If {
                condition,
                then,
                otherwise,
            } => {
                text.open(&format!("if ({})", of(condition).to_c()));
                plain(then, of, placed, declared, text);
                text.close();
                if !otherwise.is_empty() {
                    text.open("else");
                    plain(otherwise, of, placed, declared, text);
                    text.close();
                }
            }
            Step::Atomic {
                function,
                array,
                index,
                value,
            } => {
                text.line(&format!(
                    "{function}(&{array}[{}], {});",
                    of(index).to_c(),
                    of(value).to_c()
                ));
            }
            Step::Loop { .. } | Step::Barrier | Step::Tree { .. } => {}
        }
    }
}

/// Returns an index with places for several coordinates at once.
fn substituted(affine: &Affine, places: &[(String, Affine)]) -> Option<Affine> {
    let mut result = affine.clone();
    for (name, _) in places {
        result = result.substitute(name, &Affine::variable(&format!("@{name}")))?;
    }
    for (name, place) in places {
        result = result.substitute(&format!("@{name}"), place)?;
    }
    Some(result)
}

/// Returns how often a variable is read or written.
fn mentions(steps: &[Step], name: &str) -> usize {
    let mut count = 0;
    step::expressions(steps, &mut |it| {
        it.walk(&mut |part| {
            count += usize::from(matches!(part, Expression::Scalar(found) if found == name))
        });
    });
    step::walk(steps, &mut |it| {
        count += usize::from(matches!(it, Step::Assign { name: found, .. } if found == name));
    });
    count
}

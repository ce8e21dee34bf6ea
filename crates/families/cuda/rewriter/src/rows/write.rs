//! Rows as text.

mod certain;
mod joining;
mod split;
mod strides;

pub(crate) use certain::certain;

use super::{Rows, SharedLoop, greatest_end, loops, start_of};
use crate::expression::Expression;
use crate::launch_text::{Written, coordinates};
use crate::nest::Nest;
use crate::step::{self, Step};
use autocomp_nests::Text;
use certain::{candidates, divided};
use std::collections::BTreeSet;

/// Returns the faster function for another one.
pub(crate) fn fast_name(name: &str) -> Option<&'static str> {
    match name {
        "expf" => Some("__expf"),
        "logf" => Some("__logf"),
        _ => None,
    }
}

/// What stays in registers between loops.
struct Kept {
    /// With `*` for the loop's counter.
    value: Expression,
    /// Its place in registers.
    place: String,
    kind: String,
    /// The loop that fills it, and those that use it.
    first: usize,
    last: usize,
    /// Whether it is loaded as it is.
    is_load: bool,
}

struct Writer<'n> {
    nest: &'n Nest,
    rows: &'n Rows,
    text: Text,
    kept: Vec<Kept>,
    /// Sums and extremes so far.
    joined: usize,
    /// Vectors so far.
    vectors: usize,
    /// Reciprocals of what is divided by, so far.
    inverses: usize,
}

/// Writes kernels and launches for rows.
pub(crate) fn write(nest: &Nest, rows: &Rows, name: &str) -> Option<Written> {
    let loops = loops(nest)?;
    if !Rows::all(nest).contains(rows) {
        return None;
    }
    let mut writer = Writer {
        nest,
        rows,
        text: Text::default(),
        kept: Vec::new(),
        joined: 0,
        vectors: 0,
        inverses: 0,
    };
    if 1 < rows.split {
        return writer.split(&loops[0], name);
    }
    if rows.keep {
        writer.find_kept(&loops);
    }
    let count = nest.count();
    let each = rows.threads / rows.team;
    let (team, threads) = (rows.team, rows.threads);
    writer.text.open(&format!(
        "__global__ void __launch_bounds__({threads}) {name}({})",
        nest.parameters_to_c()
    ));
    writer.lane();
    let row = match each {
        1 => "blockIdx.x".to_owned(),
        _ => format!("blockIdx.x * {each} + threadIdx.x / {team}"),
    };
    if !nest.points.is_empty() {
        writer.text.line(&format!("const int item = {row};"));
    }
    if count % each != 0 {
        let own = if nest.points.is_empty() { &row } else { "item" };
        writer.text.line(&format!("if ({own} >= {count}) return;"));
    }
    for line in coordinates(&nest.points, "item") {
        writer.text.line(&line);
    }
    writer.body(&nest.steps)?;
    writer.text.close();
    let blocks = (count + each - 1) / each;
    Some(Written::launched(
        nest,
        name,
        writer.text.lines,
        blocks,
        threads,
    ))
}

impl Writer<'_> {
    fn lane(&mut self) {
        let line = match self.rows.threads / self.rows.team {
            1 => "const int lane = threadIdx.x;".to_owned(),
            _ => format!("const int lane = threadIdx.x % {};", self.rows.team),
        };
        self.text.line(&line);
    }

    /// Finds what several loops over the same elements need.
    fn find_kept(&mut self, loops: &[SharedLoop<'_>]) {
        let range = |it: &SharedLoop<'_>| (start_of(self.nest, it), it.end.clone());
        let mut found: Vec<Kept> = Vec::new();
        for (at, shared) in loops.iter().enumerate() {
            for (later, other) in loops.iter().enumerate().skip(at + 1) {
                if range(shared) != range(other) || range(shared).0 != 0 {
                    continue;
                }
                let own = candidates(shared);
                let theirs = candidates(other);
                for value in own {
                    if !theirs.contains(&value) || self.changes_between(&value, at, later, loops) {
                        continue;
                    }
                    match found.iter_mut().find(|it| it.value == value) {
                        Some(kept) => kept.last = kept.last.max(later),
                        None => found.push(Kept {
                            is_load: matches!(value, Expression::Load(..)),
                            kind: match &value {
                                Expression::Load(array, _) => self.nest.kind_of(array).to_owned(),
                                _ => "float".to_owned(),
                            },
                            value,
                            place: String::new(),
                            first: at,
                            last: later,
                        }),
                    }
                }
            }
        }
        for (at, kept) in found.iter_mut().enumerate() {
            kept.place = format!("v{at}");
        }
        self.vectors = found.len();
        self.kept = found;
    }

    /// Returns whether something that a value needs changes between two loops.
    fn changes_between(
        &self,
        value: &Expression,
        from: usize,
        to: usize,
        loops: &[SharedLoop<'_>],
    ) -> bool {
        let mut at = 0;
        let mut changes = false;
        for step in &self.nest.steps {
            let is_loop = matches!(step, Step::Loop { .. });
            let inside = from <= at && at <= to;
            let is_last = is_loop && at == to;
            step::walk(std::slice::from_ref(step), &mut |it| match it {
                Step::Assign { name, .. } | Step::Let { name, .. } if inside && !is_last => {
                    changes |= value.mentions_scalar(name);
                }
                Step::Store { array, .. } if inside && !is_last => changes |= value.reads(array),
                _ => {}
            });
            at += usize::from(is_loop);
        }
        // What the loop itself makes is not there before.
        let shared = &loops[from];
        changes
            || shared.body.iter().any(|it| match it {
                Step::Let { name, .. } | Step::Assign { name, .. } => value.mentions_scalar(name),
                _ => false,
            })
    }

    fn body(&mut self, steps: &[Step]) -> Option<()> {
        let mut at = 0;
        // Places of registers, before the first loop.
        let units = |end: i64| {
            (end + self.rows.team * self.rows.vector - 1) / (self.rows.team * self.rows.vector)
        };
        let all = loops(self.nest)?;
        let mut declared = Vec::new();
        for kept in &self.kept {
            let end = greatest_end(self.nest, all[kept.first].end)?;
            declared.push(format!(
                "__align__(16) {} {}[{}][{}];",
                kept.kind,
                kept.place,
                units(end),
                self.rows.vector
            ));
        }
        let mut declared = Some(declared);
        for step in steps {
            match step {
                Step::Loop { .. } => {
                    if let Some(lines) = declared.take() {
                        self.text.take(&lines);
                    }
                    let shared = super::shared_loop(step)?;
                    self.shared(&shared, at)?;
                    at += 1;
                }
                Step::Let { kind, name, value } => {
                    let value = value
                        .as_ref()
                        .map_or(String::new(), |it| format!(" = {}", self.fast(it).to_c()));
                    self.text.line(&format!("{kind} {name}{value};"));
                }
                Step::Assign { name, value } => {
                    let line = format!("{name} = {};", self.fast(value).to_c());
                    self.text.line(&line);
                }
                Step::Store {
                    array,
                    index,
                    value,
                } => {
                    let line = format!(
                        "if (lane == 0) {array}[{}] = {};",
                        index.to_c(),
                        self.fast(value).to_c()
                    );
                    self.text.line(&line);
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn fast(&self, value: &Expression) -> Expression {
        if !self.rows.fast {
            return value.clone();
        }
        value.map(&|it| match it {
            Expression::Call(name, arguments) => {
                let fast = fast_name(name)?;
                let arguments = arguments.iter().map(|it| self.fast(it)).collect();
                Some(Expression::Call(fast.to_owned(), arguments))
            }
            _ => None,
        })
    }

    /// Makes products of divisions by what does not change in the loop.
    fn without_divisions(&mut self, shared: &SharedLoop<'_>) -> Vec<Step> {
        if !self.rows.fast {
            return shared.body.to_vec();
        }
        let local: BTreeSet<&str> = shared
            .body
            .iter()
            .filter_map(|it| match it {
                Step::Let { name, .. } | Step::Assign { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let mut divisors: Vec<String> = Vec::new();
        let is_whole = |name: &str| {
            !local.contains(name) && self.nest.kinds.get(name).is_some_and(|it| it == "float")
        };
        step::expressions(shared.body, &mut |it| {
            it.walk(&mut |part| {
                if let Expression::Binary(_, operator, right) = part
                    && operator == "/"
                    && let Expression::Scalar(name) = &**right
                    && is_whole(name)
                    && !divisors.contains(name)
                {
                    divisors.push(name.clone());
                }
            });
        });
        let mut body = shared.body.to_vec();
        for name in divisors {
            let inverse = format!("inverse{}", self.inverses);
            self.inverses += 1;
            self.text
                .line(&format!("const float {inverse} = 1.0f / {name};"));
            body = step::mapped(&body, &|it| divided(it, &name, &inverse));
        }
        body
    }

    /// Writes a loop and what joins its results.
    fn shared(&mut self, shared: &SharedLoop<'_>, at: usize) -> Option<()> {
        let body = self.without_divisions(shared);
        let (body, joined) = self.begin_joining(&body);
        self.strided(shared, &body, at)?;
        for (name, partial, joining) in joined {
            let kind = self
                .nest
                .kinds
                .get(&name)
                .cloned()
                .unwrap_or_else(|| "float".into());
            self.join(&kind, &partial, joining);
            self.take_joined(&name, &partial, joining);
        }
        Some(())
    }
}

//! Rows as text.

use super::{Rows, SharedLoop, greatest_end, loops, start_of};
use crate::expression::{Along, Expression, along};
use crate::nest::Nest;
use crate::step::{self, Joining, Step, accumulated};
use crate::written::{Written, coordinates, vector_type};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;
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
    Some(Written {
        functions: writer.text.lines,
        host: vec![format!(
            "{name}<<<{blocks}, {threads}>>>({});",
            nest.arguments_to_c()
        )],
    })
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

    /// Lets each thread have a part of what a loop joins.
    fn begin_joining(&mut self, body: &[Step]) -> (Vec<Step>, Vec<(String, String, Joining)>) {
        let mut body = body.to_vec();
        let mut joined: Vec<(String, String, Joining)> = Vec::new();
        let local: BTreeSet<String> = body
            .iter()
            .filter_map(|it| match it {
                Step::Let { name, .. } => Some(name.clone()),
                _ => None,
            })
            .collect();
        for step in &mut body {
            let Step::Assign { name, value } = step else {
                continue;
            };
            if local.contains(name) {
                continue;
            }
            let Some((joining, rest)) = accumulated(name, value) else {
                continue;
            };
            let known = joined
                .iter()
                .find(|it| it.0 == *name)
                .map(|it| it.1.clone());
            let partial = known.unwrap_or_else(|| {
                let partial = format!("partial{}", self.joined);
                self.joined += 1;
                let kind = self.nest.kinds.get(name).map_or("float", String::as_str);
                let first = match joining {
                    Joining::Sum => "0",
                    _ => name.as_str(),
                };
                self.text.line(&format!("{kind} {partial} = {first};"));
                joined.push((name.clone(), partial.clone(), joining));
                partial
            });
            let kind = self.nest.kinds.get(name).map_or("float", String::as_str);
            let rest = rest.clone();
            *value = match joining {
                Joining::Sum => Expression::binary(Expression::Text(partial.clone()), "+", rest),
                other => {
                    let function = other.to_c(kind, "", "");
                    let function = function.split('(').next().unwrap_or("max").to_owned();
                    Expression::Call(function, vec![Expression::Text(partial.clone()), rest])
                }
            };
            *name = partial;
        }
        (body, joined)
    }

    /// Joins the parts of all threads of a team.
    fn join(&mut self, kind: &str, partial: &str, joining: Joining) {
        let team = self.rows.team;
        let within = team.min(32);
        let other = format!("__shfl_xor_sync(0xffffffff, {partial}, distance)");
        self.text.line("#pragma unroll");
        self.text.line(&format!(
            "for (int distance = {}; distance > 0; distance /= 2) {partial} = {};",
            within / 2,
            joining.to_c(kind, partial, &other)
        ));
        if 32 < team {
            let warps = team / 32;
            self.text
                .line(&format!("__shared__ {kind} {partial}_of[{warps}];"));
            self.text.line(&format!(
                "if (threadIdx.x % 32 == 0) {partial}_of[threadIdx.x / 32] = {partial};"
            ));
            self.text.line("__syncthreads();");
            self.text.line(&format!("{partial} = {partial}_of[0];"));
            self.text.line("#pragma unroll");
            let element = format!("{partial}_of[e]");
            self.text.line(&format!(
                "for (int e = 1; e < {warps}; e++) {partial} = {};",
                joining.to_c(kind, partial, &element)
            ));
        }
    }

    /// Adds what all threads have to what was there before.
    fn take_joined(&mut self, name: &str, partial: &str, joining: Joining) {
        self.text.line(&match joining {
            Joining::Sum => format!("{name} = {name} + {partial};"),
            _ => format!("{name} = {partial};"),
        });
    }

    /// Writes a loop whose elements the threads of a team take by turns.
    fn strided(&mut self, shared: &SharedLoop<'_>, body: &[Step], at: usize) -> Option<()> {
        let (team, vector) = (self.rows.team, self.rows.vector);
        let start = start_of(self.nest, shared);
        let counter = shared.variable;
        let end = shared.end.to_c();
        let whole = team * vector;
        if self.rows.keep && start == 0 {
            let most = greatest_end(self.nest, shared.end)?;
            let units = (most + whole - 1) / whole;
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int unit = 0; unit < {units}; unit++)"));
            let factor = if vector == 1 {
                String::new()
            } else {
                format!(" * {vector}")
            };
            self.text.line(&format!(
                "const int {counter} = (unit * {team} + lane){factor};"
            ));
            let is_full = shared.end.as_constant().is_some_and(|it| it % whole == 0);
            if !is_full {
                self.text.open(&format!("if ({counter} < {end})"));
            }
            self.elements(shared, body, vector, Some(at))?;
            if !is_full {
                self.text.close();
            }
            self.text.close();
            return Some(());
        }
        let first = |factor: i64| match (start, factor) {
            (0, 1) => "lane".to_owned(),
            (0, _) => format!("lane * {factor}"),
            _ => format!("{start} + lane"),
        };
        let constant = shared.end.as_constant();
        let main = constant.map_or(end.clone(), |it| (it / vector * vector).to_string());
        self.text.line("#pragma unroll 4");
        self.text.open(&format!(
            "for (int {counter} = {}; {counter} < {main}; {counter} += {whole})",
            first(vector)
        ));
        self.elements(shared, body, vector, None)?;
        self.text.close();
        self.rest(shared, body, vector, "lane")
    }

    /// Writes the elements behind the last whole vector.
    fn rest(
        &mut self,
        shared: &SharedLoop<'_>,
        body: &[Step],
        vector: i64,
        lane: &str,
    ) -> Option<()> {
        let counter = shared.variable;
        if let Some(end) = shared.end.as_constant()
            && end % vector != 0
        {
            self.text.open(&format!(
                "for (int {counter} = {} + {lane}; {counter} < {end}; {counter} += {})",
                end / vector * vector,
                self.rows.team
            ));
            self.elements(shared, body, 1, None)?;
            self.text.close();
        }
        Some(())
    }

    /// Writes the elements from the counter on, as many as a vector has.
    fn elements(
        &mut self,
        shared: &SharedLoop<'_>,
        body: &[Step],
        vector: i64,
        kept_in: Option<usize>,
    ) -> Option<()> {
        let counter = shared.variable;
        let mut places: Vec<(Expression, String)> = Vec::new();
        let element = |place: &str, is_kept: bool| {
            let unit = if is_kept { "[unit]" } else { "" };
            let e = if vector == 1 { "0" } else { "e" };
            format!("{place}{unit}[{e}]")
        };
        let own = |it: &Expression| it.with_index("*", &Affine::variable(counter));
        let mut inner: Vec<(String, Expression)> = Vec::new();
        if let Some(at) = kept_in {
            for kept in &self.kept {
                if at < kept.first || kept.last < at {
                    continue;
                }
                let value = own(&kept.value);
                let place = element(&kept.place, true);
                if at == kept.first && !kept.is_load {
                    inner.push((place.clone(), value.clone()));
                }
                places.push((value, place));
            }
        }
        // Loads that are certain, as vectors.
        let mut lines = Vec::new();
        let end = shared.end.as_constant();
        for (array, index) in certain_loads(body) {
            let load = Expression::Load(array.clone(), Box::new(index.clone()));
            let kept = self
                .kept
                .iter()
                .find(|it| kept_in.is_some() && it.is_load && own(&it.value) == load);
            let filled_here = kept.is_none_or(|it| Some(it.first) == kept_in);
            let is_known = places.iter().any(|it| it.0 == load);
            if !filled_here || kept.is_none() && (is_known || vector == 1) {
                continue;
            }
            let affine = index.as_index()?.clone();
            let kind = self.nest.kind_of(&array).to_owned();
            let is_beside = 1 < vector
                && self.nest.bytes_of(&array) * vector <= 16
                && end.is_some_and(|it| along(&affine, counter, it, vector) == Along::Beside);
            let to = match kept {
                Some(kept) => format!("{}[unit]", kept.place),
                None if is_beside => {
                    let place = format!("v{}", self.vectors);
                    self.vectors += 1;
                    lines.push(format!("__align__(16) {kind} {place}[{vector}];"));
                    places.push((load.clone(), element(&place, false)));
                    place
                }
                None => continue,
            };
            match (is_beside, vector_type(&kind, vector)) {
                (true, Some(wide)) => {
                    lines.push(format!(
                        "*({wide}*){to} = *(const {wide}*)&{array}[{}];",
                        affine.to_c()
                    ));
                }
                _ => {
                    for e in 0..vector {
                        let at = affine
                            .substitute(counter, &Affine::variable(counter).plus_constant(e)?)?;
                        lines.push(format!("{to}[{e}] = {array}[{}];", at.to_c()));
                    }
                }
            }
        }
        self.text.take(&lines);
        let mut behind = Vec::new();
        let body = {
            // Stores that lie side by side, as vectors.
            let mut result = Vec::new();
            for step in body {
                if let Step::Store {
                    array,
                    index,
                    value,
                } = step
                    && 1 < vector
                    && let Some(affine) = index.as_index()
                    && let Some(wide) = vector_type(self.nest.kind_of(array), vector)
                    && end.is_some_and(|it| along(affine, counter, it, vector) == Along::Beside)
                {
                    let place = format!("v{}", self.vectors);
                    self.vectors += 1;
                    self.text.line(&format!(
                        "__align__(16) {} {place}[{vector}];",
                        self.nest.kind_of(array)
                    ));
                    behind.push(format!(
                        "*({wide}*)&{array}[{}] = *({wide}*){place};",
                        affine.to_c()
                    ));
                    result.push(Step::Assign {
                        name: format!("{place}[e]"),
                        value: value.clone(),
                    });
                } else {
                    result.push(step.clone());
                }
            }
            result
        };
        if 1 < vector {
            self.text.line("#pragma unroll");
            self.text
                .open(&format!("for (int e = 0; e < {vector}; e++)"));
        }
        let moved = match vector {
            1 => Affine::variable(counter),
            _ => Affine::variable(counter).plus(&Affine::variable("e"))?,
        };
        let placed = |it: &Expression, places: &[(Expression, String)]| {
            let value = it.map(&|part| {
                let found = places.iter().find(|place| place.0 == *part)?;
                Some(Expression::Text(found.1.clone()))
            });
            value.with_index(counter, &moved)
        };
        let mut inner_places = places.clone();
        for (place, value) in inner {
            inner_places.retain(|it| it.1 != place);
            let text = self.fast(&placed(&value, &inner_places)).to_c();
            self.text.line(&format!("{place} = {text};"));
        }
        for step in &body {
            let line = match step {
                Step::Let { kind, name, value } => {
                    let value = value.as_ref().map_or(String::new(), |it| {
                        format!(" = {}", self.fast(&placed(it, &places)).to_c())
                    });
                    format!("{kind} {name}{value};")
                }
                Step::Assign { name, value } => {
                    format!("{name} = {};", self.fast(&placed(value, &places)).to_c())
                }
                Step::Store {
                    array,
                    index,
                    value,
                } => format!(
                    "{array}[{}] = {};",
                    placed(index, &[]).to_c(),
                    self.fast(&placed(value, &places)).to_c()
                ),
                _ => return None,
            };
            self.text.line(&line);
        }
        if 1 < vector {
            self.text.close();
        }
        self.text.take(&behind);
        Some(())
    }

    /// Writes two launches: blocks that each do a part of the only row, and one that joins them.
    fn split(mut self, shared: &SharedLoop<'_>, name: &str) -> Option<Written> {
        let (blocks, threads, vector) = (self.rows.split, self.rows.team, self.rows.vector);
        let position = self
            .nest
            .steps
            .iter()
            .position(|it| matches!(it, Step::Loop { .. }))?;
        let (before, after) = (
            &self.nest.steps[..position],
            &self.nest.steps[position + 1..],
        );
        // What a part is must not depend on what was there before.
        let [Step::Assign { name: sum, value }] = shared.body else {
            return None;
        };
        let (joining, _) = accumulated(sum, value)?;
        let kind = self
            .nest
            .kinds
            .get(sum)
            .cloned()
            .unwrap_or_else(|| "float".into());
        let scratch = format!("{name}_parts");
        let parameters = self.nest.parameters_to_c();
        self.text.open(&format!("__global__ void __launch_bounds__({threads}) {name}({parameters}, {kind}* __restrict__ {scratch})"));
        self.text.line("const int lane = threadIdx.x;");
        self.body(before)?;
        let (body, joined) = self.begin_joining(shared.body);
        let end = shared.end.as_constant()?;
        let counter = shared.variable;
        if start_of(self.nest, shared) != 0 {
            return None;
        }
        self.text.line("#pragma unroll 4");
        self.text.open(&format!(
            "for (int {counter} = (blockIdx.x * {threads} + threadIdx.x) * {vector}; {counter} < {}; {counter} += {})",
            end / vector * vector,
            blocks * threads * vector
        ));
        self.elements(shared, &body, vector, None)?;
        self.text.close();
        if end % vector != 0 {
            self.text.open("if (blockIdx.x == 0)");
            self.rest(shared, &body, vector, "lane")?;
            self.text.close();
        }
        let (_, partial, _) = joined.into_iter().next()?;
        // The part alone: what the row begins with is added once, by the second launch.
        self.join(&kind, &partial, joining);
        self.text.line(&format!(
            "if (lane == 0) {scratch}[blockIdx.x] = {partial};"
        ));
        self.text.close();
        self.text.open(&format!("__global__ void __launch_bounds__({threads}) {name}_join({parameters}, const {kind}* __restrict__ {scratch})"));
        self.text.line("const int lane = threadIdx.x;");
        self.body(before)?;
        let first = match joining {
            Joining::Sum => "0",
            _ => sum.as_str(),
        };
        let all = format!("partial{}", self.joined);
        self.text.line(&format!("{kind} {all} = {first};"));
        self.text.line(&format!(
            "for (int e = lane; e < {blocks}; e += {threads}) {all} = {};",
            joining.to_c(&kind, &all, &format!("{scratch}[e]"))
        ));
        self.join(&kind, &all, joining);
        self.take_joined(sum, &all, joining);
        self.body(after)?;
        self.text.close();
        let arguments = self.nest.arguments_to_c();
        Some(Written {
            functions: self.text.lines,
            host: vec![
                format!("{kind}* {scratch};"),
                format!("cudaMalloc(&{scratch}, {blocks} * sizeof({kind}));"),
                format!("{name}<<<{blocks}, {threads}>>>({arguments}, {scratch});"),
                format!("{name}_join<<<1, {threads}>>>({arguments}, {scratch});"),
            ],
        })
    }
}

/// Returns `value / name` as a product.
fn divided(value: &Expression, name: &str, inverse: &str) -> Expression {
    value.map(&|it| match it {
        Expression::Binary(left, operator, right)
            if operator == "/" && **right == Expression::Scalar(name.to_owned()) =>
        {
            let left = divided(left, name, inverse);
            Some(Expression::binary(
                left,
                "*",
                Expression::Text(inverse.to_owned()),
            ))
        }
        _ => None,
    })
}

/// Returns what of a loop may be kept for another: loads, and calls of functions, with `*` for the
/// counter.
fn candidates(shared: &SharedLoop<'_>) -> Vec<Expression> {
    let mut found = Vec::new();
    let local: Vec<&String> = shared
        .body
        .iter()
        .filter_map(|it| match it {
            Step::Let { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    let mut see = |it: &Expression| {
        let is_wanted = matches!(it, Expression::Load(_, index) if index.as_index().is_some())
            || matches!(it, Expression::Call(..));
        if is_wanted
            && it.mentions_index(shared.variable)
            && !local.iter().any(|name| it.mentions_scalar(name))
        {
            let value = it.with_index(shared.variable, &Affine::variable("*"));
            if !found.contains(&value) {
                found.push(value);
            }
        }
    };
    certain(shared.body, &mut see);
    found
}

/// Returns the loads of a body that every iteration makes, with indices that are sums.
fn certain_loads(body: &[Step]) -> Vec<(String, Expression)> {
    let mut found: Vec<(String, Expression)> = Vec::new();
    certain(body, &mut |it| {
        if let Expression::Load(array, index) = it
            && index.as_index().is_some()
            && !found
                .iter()
                .any(|known| known.0 == *array && known.1 == **index)
        {
            found.push((array.clone(), (**index).clone()));
        }
    });
    found
}

/// Calls `see` with every part that is computed in any case.
pub(crate) fn certain(body: &[Step], see: &mut dyn FnMut(&Expression)) {
    for step in body {
        match step {
            Step::Let { value, .. } => value.iter().for_each(|it| certain_parts(it, see)),
            Step::Assign { value, .. } => certain_parts(value, see),
            Step::Store { index, value, .. } | Step::Atomic { index, value, .. } => {
                certain_parts(index, see);
                certain_parts(value, see);
            }
            _ => {}
        }
    }
}

fn certain_parts(value: &Expression, see: &mut dyn FnMut(&Expression)) {
    see(value);
    match value {
        Expression::Load(_, inner) | Expression::Sign(_, inner) | Expression::Cast(_, inner) => {
            certain_parts(inner, see)
        }
        Expression::Binary(left, operator, right) => {
            certain_parts(left, see);
            if operator != "&&" && operator != "||" {
                certain_parts(right, see);
            }
        }
        Expression::Choice(condition, ..) => certain_parts(condition, see),
        Expression::Call(_, arguments) => arguments.iter().for_each(|it| certain_parts(it, see)),
        _ => {}
    }
}

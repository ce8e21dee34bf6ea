//! The kernel that computes points.

mod run;

use super::{Points, is_of_points};
use crate::launch_text::{Written, begin_of_block};
use crate::nest::Nest;
use crate::step::{self, Step};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

impl Points {
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
            let block = begin_of_block(blocks, of_axis, many, at == 0);
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
        Some(Written::launched(
            nest,
            name,
            writer.text.lines,
            blocks,
            block,
        ))
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
}

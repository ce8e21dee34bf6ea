//! Blocks whose threads work together: loops that they share, sums and extremes of all of them.

use crate::expression::Expression;
use crate::read::{Parameter, Thread};
use crate::step::{Joining, Step, accumulated, any};
use autocomp_c_loops::affine::Affine;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel as if one thread did what those of a block do together.
pub(crate) struct Separated {
    pub parameters: Vec<Parameter>,
    pub kinds: BTreeMap<String, String>,
    pub steps: Vec<Step>,
    /// The coordinate that says which part of its loop a block does.
    pub split: Option<String>,
    /// Whether threads of a block are no points of their own.
    pub is_joint: bool,
    /// Whether blocks are none, either: all of them share loops that join nothing.
    pub is_spread: bool,
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// It has this value in all threads.
    Whole(Expression),
    /// Each thread has a part.
    Part(Joining),
}

/// Returns a kernel without what its threads do together.
///
/// # Errors
/// Why that is not understood.
pub(crate) fn separated(thread: Thread) -> Result<Separated, String> {
    let Thread {
        grid,
        block,
        parameters,
        steps,
        shared,
        kinds,
        ..
    } = thread;
    let mut result = Separated {
        parameters,
        kinds,
        steps,
        split: None,
        is_joint: false,
        is_spread: false,
    };
    let works_together = !shared.is_empty() || {
        let mut found = false;
        crate::step::walk(&result.steps, &mut |it| match it {
            Step::Loop { start, .. } => found |= start.mentions("tx"),
            Step::Barrier | Step::Tree { .. } => found = true,
            _ => {}
        });
        found
    };
    if !works_together {
        return Ok(result);
    }
    if block[1] != 1 || block[2] != 1 {
        return Err("lets threads of a block with several dimensions work together".into());
    }
    let mut joint = Joint {
        threads: block[0],
        blocks: grid[0],
        shared: shared.keys().cloned().collect(),
        states: BTreeMap::new(),
        parts: BTreeMap::new(),
        totals: BTreeMap::new(),
        aliases: BTreeMap::new(),
        split: None,
        is_spread: false,
    };
    let steps = joint.steps(&result.steps)?;
    if any(
        &steps,
        &|it| matches!(it, Expression::Index(index) if index.mentions("tx")),
    ) {
        return Err(
            "lets threads of a block work together in a way that is not understood: loops over all threads (`for (j = threadIdx.x; …; j += blockDim.x)`), sums by halves in shared memory and `if (threadIdx.x == 0)` are".into(),
        );
    }
    result.steps = steps;
    result.split = joint.split;
    result.is_joint = true;
    result.is_spread = joint.is_spread && result.split.is_none();
    Ok(result)
}

struct Joint {
    threads: i64,
    blocks: i64,
    shared: BTreeSet<String>,
    states: BTreeMap<String, State>,
    /// Which variable's parts lie in a shared array.
    parts: BTreeMap<String, String>,
    /// Which variable a shared array has the total of, in its first element.
    totals: BTreeMap<String, String>,
    /// Copies of parts, with whose they are.
    aliases: BTreeMap<String, String>,
    split: Option<String>,
    is_spread: bool,
}

impl Joint {
    fn steps(&mut self, steps: &[Step]) -> Result<Vec<Step>, String> {
        let mut result = Vec::new();
        for step in steps {
            self.step(step, &mut result)?;
        }
        Ok(result)
    }

    /// Returns a value in which totals are variables.
    fn value(&self, value: &Expression) -> Result<Expression, String> {
        let value = value.map(&|it| match it {
            Expression::Load(array, index) => {
                let is_first = **index == Expression::constant(0);
                let total = self.totals.get(array).filter(|_| is_first)?;
                Some(Expression::Scalar(total.clone()))
            }
            _ => None,
        });
        if let Some(name) = self.aliases.keys().find(|it| value.mentions_scalar(it)) {
            return Err(format!(
                "uses `{name}`, a copy of what each thread has a part of"
            ));
        }
        for (name, state) in &self.states {
            if matches!(state, State::Part(_)) && value.mentions_scalar(name) {
                return Err(format!("uses `{name}`, of which each thread has a part"));
            }
        }
        match self.shared.iter().find(|it| value.reads(it)) {
            Some(array) => Err(format!("reads `{array}` in a way that is not understood")),
            None => Ok(value),
        }
    }

    fn step(&mut self, step: &Step, to: &mut Vec<Step>) -> Result<(), String> {
        match step {
            Step::Barrier => {}
            // A copy of what each thread has.
            Step::Let {
                name,
                value: Some(Expression::Scalar(of)),
                ..
            } if matches!(self.states.get(of), Some(State::Part(_))) => {
                self.aliases.insert(name.clone(), of.clone());
            }
            Step::Let { kind, name, value } => {
                let value = value.as_ref().map(|it| self.value(it)).transpose()?;
                if let Some(value) = &value {
                    self.states
                        .insert(name.clone(), State::Whole(value.clone()));
                }
                to.push(Step::Let {
                    kind: kind.clone(),
                    name: name.clone(),
                    value,
                });
            }
            Step::Assign { name, value } => {
                let value = self.value(value)?;
                self.totals.retain(|_, total| total != name);
                self.states
                    .insert(name.clone(), State::Whole(value.clone()));
                to.push(Step::Assign {
                    name: name.clone(),
                    value,
                });
            }
            Step::Store {
                array,
                index,
                value,
            } if self.shared.contains(array) => {
                let own = Expression::Index(Affine::variable("tx"));
                match value {
                    Expression::Scalar(name) if *index == own => {
                        let of = self.aliases.get(name).unwrap_or(name).clone();
                        self.parts.insert(array.clone(), of);
                        self.totals.remove(array);
                    }
                    _ => {
                        return Err(format!(
                            "stores to `{array}` in a way that is not understood"
                        ));
                    }
                }
            }
            Step::Tree { array, joining } => {
                let name = self.parts.remove(array);
                let name = name.ok_or_else(|| format!("adds up `{array}`, which is not known"))?;
                if self.states.get(&name) != Some(&State::Part(*joining)) {
                    return Err(format!("joins `{name}` in two ways"));
                }
                let total = Expression::Text(name.clone());
                self.states.insert(name.clone(), State::Whole(total));
                self.totals.insert(array.clone(), name);
            }
            Step::If {
                condition,
                then,
                otherwise,
            } => {
                let first = Expression::binary(
                    Expression::Index(Affine::variable("tx")),
                    "==",
                    Expression::constant(0),
                );
                if *condition == first && otherwise.is_empty() {
                    let then = self.steps(then)?;
                    if !then
                        .iter()
                        .all(|it| matches!(it, Step::Store { .. } | Step::Let { .. }))
                    {
                        return Err("lets one thread do what is not understood".into());
                    }
                    to.extend(then);
                    return Ok(());
                }
                let condition = self.value(condition)?;
                to.push(Step::If {
                    condition,
                    then: self.steps(then)?,
                    otherwise: self.steps(otherwise)?,
                });
            }
            Step::Loop {
                variable,
                start,
                end,
                step,
                body,
            } => {
                let own = Affine::variable("tx");
                let of_blocks = Affine::variable("bx").times(self.threads);
                let rest = start.minus(&own).unwrap_or_default();
                let of_grid = of_blocks.and_then(|it| rest.minus(&it));
                let mut is_of_grid = false;
                let start = match (rest.as_constant(), of_grid.and_then(|it| it.as_constant())) {
                    (Some(first), _) if *step == self.threads => first,
                    (_, Some(first)) if *step == self.threads * self.blocks => {
                        is_of_grid = true;
                        first
                    }
                    _ if start.mentions("tx") => {
                        return Err(
                            "shares a loop among its threads in a way that is not understood"
                                .into(),
                        );
                    }
                    _ => {
                        // All threads do the same.
                        to.push(Step::Loop {
                            variable: variable.clone(),
                            start: start.clone(),
                            end: end.clone(),
                            step: *step,
                            body: self.steps(body)?,
                        });
                        return Ok(());
                    }
                };
                let (body, joins) = self.shared_body(body)?;
                match (is_of_grid, joins) {
                    (true, true) => self.split = Some("bx".to_owned()),
                    (true, false) => self.is_spread = true,
                    (false, _) => {}
                }
                to.push(Step::Loop {
                    variable: variable.clone(),
                    start: Affine::constant(start),
                    end: end.clone(),
                    step: 1,
                    body,
                });
            }
            Step::Store {
                array,
                index,
                value,
            } => to.push(Step::Store {
                array: array.clone(),
                index: self.value(index)?,
                value: self.value(value)?,
            }),
            Step::Atomic {
                function,
                array,
                index,
                value,
            } => to.push(Step::Atomic {
                function: function.clone(),
                array: array.clone(),
                index: self.value(index)?,
                value: self.value(value)?,
            }),
        }
        Ok(())
    }

    /// Reads the body of a loop that the threads share; tells whether it joins anything.
    fn shared_body(&mut self, body: &[Step]) -> Result<(Vec<Step>, bool), String> {
        let mut result = Vec::new();
        let mut joined = Vec::new();
        for step in body {
            if let Step::Assign { name, value } = step
                && let Some((joining, rest)) = accumulated(name, value)
                && let Some(State::Whole(before)) = self.states.get(name)
            {
                let is_zero = match before {
                    Expression::Text(text) => text.trim_end_matches(['f', 'F']).parse() == Ok(0.0),
                    Expression::Index(index) => index.as_constant() == Some(0),
                    _ => false,
                };
                if joining == Joining::Sum && !is_zero {
                    return Err(format!(
                        "begins the sum `{name}` with another value than zero in each thread"
                    ));
                }
                self.value(rest)?;
                result.push(Step::Assign {
                    name: name.clone(),
                    value: value.map(&|it| match it {
                        Expression::Load(..) => self.value(it).ok(),
                        _ => None,
                    }),
                });
                joined.push((name.clone(), joining));
                continue;
            }
            self.step(step, &mut result)?;
        }
        let joins = !joined.is_empty();
        for (name, joining) in joined {
            self.totals.retain(|_, total| *total != name);
            self.states.insert(name, State::Part(joining));
        }
        Ok((result, joins))
    }
}

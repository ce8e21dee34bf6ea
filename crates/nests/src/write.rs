//! Writes a kernel under a schedule.

use super::code::{Action, Element, Loop, Named, Program, Statement, actions};
use super::distribute::distributed;
use super::forms;
use super::product;
use super::region::{Region, region};
use super::schedule::{Part, Schedule};
use super::text::Text;
use super::vectors::Preamble;
use autocomp_c_loops::statement::Command;
use std::collections::{BTreeMap, BTreeSet};

struct Writer<'p> {
    names: &'p BTreeMap<String, Named>,
    parts: std::slice::Iter<'p, Part>,
    preamble: Preamble,
    statics: String,
    once: Vec<String>,
    text: Text,
    /// Arrays that the kernel writes.
    written: BTreeSet<String>,
    /// Variables of the loops around.
    loops: Vec<String>,
    parts_so_far: usize,
}

/// Writes `program` under `schedule`; nothing if that does not fit.
pub(super) fn write(program: &Program, schedule: &Schedule) -> Option<String> {
    let program = &forms::applied(program, &schedule.forms)?;
    let (body, names) = distributed(program, schedule.strip)?;
    let targets = actions(&body).into_iter().map(|(_, action)| match action {
        Action::Assign { target, .. } => target.name.clone(),
        Action::Declare { name, .. } => name.clone(),
    });
    let mut writer = Writer {
        names: &names,
        parts: schedule.parts.iter(),
        preamble: Preamble::default(),
        statics: String::new(),
        once: Vec::new(),
        text: Text::default(),
        written: targets.collect(),
        loops: Vec::new(),
        parts_so_far: 0,
    };
    writer.walk(&body)?;
    if writer.parts.next().is_some() {
        return None;
    }
    let mut text = Text::default();
    text.open(&program.head_to_c());
    text.take(&program.opening());
    text.take(&writer.once);
    text.take(&writer.text.lines);
    text.close();
    let code = text.lines.join("\n");
    Some(format!(
        "{}{}{}\n{code}\n",
        writer.preamble.text(schedule.fused),
        program.statics,
        writer.statics
    ))
}

impl Writer<'_> {
    fn walk(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Loop(inner) => match region(inner, self.names) {
                    Some(region) => {
                        let part = self.parts.next()?;
                        self.part(inner, &region, part)?;
                        self.parts_so_far += 1;
                    }
                    None => {
                        self.text.open(&inner.head_to_c());
                        self.loops.push(inner.variable.clone());
                        self.walk(&inner.body)?;
                        self.loops.pop();
                        self.text.close();
                    }
                },
                Statement::Command(action) => self.text.line(&format!("{};", action.to_c())),
                _ => return None,
            }
        }
        Some(())
    }

    fn part(&mut self, outer: &Loop, region: &Region, part: &Part) -> Option<()> {
        let id = self.parts_so_far;
        match (region, part) {
            (_, Part::Plain) => {
                let mut written = String::new();
                let statement = Statement::Loop(outer.clone());
                autocomp_c_loops::statement::print(&[statement], 0, "  ", &mut written);
                written.lines().for_each(|line| self.text.line(line));
                Some(())
            }
            (Region::Product(nest), Part::Product(schedule)) => {
                let (written, loops) = (&self.written, &self.loops);
                let is_steady = |access: &Element| {
                    !written.contains(&access.name) && !loops.iter().any(|it| access.mentions(it))
                };
                let made = product::write(
                    nest,
                    schedule,
                    self.names,
                    &mut self.preamble,
                    id,
                    &is_steady,
                )?;
                self.statics += &made.statics;
                match self.loops.is_empty() {
                    true => self.text.take(&made.once),
                    false => self.once.extend(made.once),
                }
                self.text.take(&made.loops);
                Some(())
            }
            (Region::Turn(nest), Part::Turn(schedule)) => {
                nest.write(schedule, self.names, &mut self.preamble, &mut self.text)
            }
            (Region::Counting(counting), Part::Tables(count)) => {
                self.statics += &counting.write(*count, id, &mut self.text)?;
                Some(())
            }
            (Region::Wide(wide), Part::Vectors(schedule)) => {
                wide.write(schedule, self.names, &mut self.preamble, &mut self.text)
            }
            (Region::Wide(wide), Part::Lengths(schedule)) => wide.write_by_length(
                schedule,
                None,
                self.names,
                &mut self.preamble,
                &mut self.text,
            ),
            (Region::Jam(_, Some(wide)), Part::Lengths(schedule)) if outer.body.len() == 1 => wide
                .write_by_length(
                    schedule,
                    Some(outer),
                    self.names,
                    &mut self.preamble,
                    &mut self.text,
                ),
            (Region::Jam(jammed, _), Part::Jam(count)) => jammed.write(*count, &mut self.text),
            (Region::Jam(_, Some(wide)), Part::Vectors(_) | Part::Lengths(_)) => {
                self.text.open(&outer.head_to_c());
                for statement in &outer.body {
                    match statement {
                        Statement::Command(action) => {
                            self.text.line(&format!("{};", action.to_c()));
                        }
                        _ => {
                            let (preamble, text) = (&mut self.preamble, &mut self.text);
                            match part {
                                Part::Vectors(schedule) => {
                                    wide.write(schedule, self.names, preamble, text)?;
                                }
                                Part::Lengths(schedule) => {
                                    wide.write_by_length(
                                        schedule, None, self.names, preamble, text,
                                    )?;
                                }
                                _ => return None,
                            }
                        }
                    }
                }
                self.text.close();
                Some(())
            }
            _ => None,
        }
    }
}

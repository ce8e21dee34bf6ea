//! What threads join.

use super::Writer;
use crate::expression::Expression;
use crate::step::{Joining, Step, accumulated};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Lets each thread have a part of what a loop joins.
    pub(super) fn begin_joining(
        &mut self,
        body: &[Step],
    ) -> (Vec<Step>, Vec<(String, String, Joining)>) {
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
    pub(super) fn join(&mut self, kind: &str, partial: &str, joining: Joining) {
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
    pub(super) fn take_joined(&mut self, name: &str, partial: &str, joining: Joining) {
        self.text.line(&match joining {
            Joining::Sum => format!("{name} = {name} + {partial};"),
            _ => format!("{name} = {partial};"),
        });
    }
}

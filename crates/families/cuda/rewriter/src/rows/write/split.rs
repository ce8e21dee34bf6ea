//! Rows that several blocks share.

use super::super::{SharedLoop, start_of};
use super::Writer;
use crate::launch_text::Written;
use crate::step::{Joining, Step, accumulated};

impl Writer<'_> {
    /// Writes two launches: blocks that each do a part of the only row, and one that joins them.
    pub(super) fn split(mut self, shared: &SharedLoop<'_>, name: &str) -> Option<Written> {
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

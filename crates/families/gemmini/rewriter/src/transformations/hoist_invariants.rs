//! Takes configuration commands and fences out of loops.

use crate::kernel::{Command, Statement};
use crate::transformation::{Rewritten, Step, Transformation, View};
use crate::tree::{Site, list_mut, prune, replace, sites};

/// Moves the configuration command at `at` before the outermost loop around
/// it, or drops the fence at `at`.
pub(crate) struct HoistInvariants;

impl Transformation for HoistInvariants {
    fn name(&self) -> &'static str {
        "hoist-invariants"
    }

    fn does(&self) -> &'static str {
        "moves a configuration command before the loops around it, or drops a fence"
    }

    fn menu_items(&self, _step: &Step) -> &'static [&'static str] {
        &["hoist-invariants"]
    }

    fn steps(&self, view: &View<'_>) -> Vec<Step> {
        sites(&view.kernel.body)
            .into_iter()
            .filter(|site| !site.loops.is_empty() && is_invariant_kind(site.command))
            .map(|site| Step {
                transformation: self.name().to_owned(),
                at: site.path,
                ..Step::default()
            })
            .filter(|step| self.apply(view, step).is_some())
            .collect()
    }

    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten> {
        let sites = sites(&view.kernel.body);
        let site = sites.iter().find(|site| site.path == step.at)?;
        let (depth, outermost) = *site.loops.first()?;
        let mut kernel = view.kernel.clone();
        if *site.command == Command::Fence {
            // The end of the kernel has a fence of its own, or this one stays.
            let last = sites
                .iter()
                .rfind(|other| *other.command == Command::Fence)?;
            (last.loops.is_empty()).then_some(())?;
            replace(&mut kernel.body, &step.at, Vec::new())?;
            prune(&mut kernel.body);
            let sentence = format!(
                "Drop the fence inside the loop `{}`: the accelerator keeps its own order.",
                outermost.variable
            );
            return Some(Rewritten { kernel, sentence });
        }
        if !is_invariant_kind(site.command) || mentions_loop(site) {
            return None;
        }
        // Another setting of the same state would be overtaken.
        let differs = sites.iter().any(|other| {
            other.path != step.at
                && other.command != site.command
                && sets_same_state(other.command, site.command)
        });
        if differs {
            return None;
        }
        replace(&mut kernel.body, &step.at, Vec::new())?;
        let (statements, idx) = list_mut(&mut kernel.body, &step.at[..depth])?;
        statements.insert(idx, Statement::Command(site.command.clone()));
        prune(&mut kernel.body);
        let sentence = format!(
            "Configure once before the loop `{}` instead of in every iteration.",
            outermost.variable
        );
        Some(Rewritten { kernel, sentence })
    }
}

fn is_invariant_kind(command: &Command) -> bool {
    matches!(
        command,
        Command::ConfigExecute(_)
            | Command::ConfigLoad { .. }
            | Command::ConfigStore(_)
            | Command::Fence
    )
}

fn sets_same_state(left: &Command, right: &Command) -> bool {
    match (left, right) {
        (Command::ConfigExecute(_), Command::ConfigExecute(_))
        | (Command::ConfigStore(_), Command::ConfigStore(_)) => true,
        (Command::ConfigLoad { channel: a, .. }, Command::ConfigLoad { channel: b, .. }) => a == b,
        _ => false,
    }
}

/// Returns whether a verbatim argument names a loop variable.
fn mentions_loop(site: &Site<'_>) -> bool {
    let texts: Vec<&String> = match site.command {
        Command::ConfigExecute(arguments) | Command::ConfigStore(arguments) => {
            arguments.iter().collect()
        }
        Command::ConfigLoad { stride, scale, .. } => vec![stride, scale],
        _ => Vec::new(),
    };
    texts.iter().any(|text| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| site.loops.iter().any(|(_, inner)| inner.variable == word))
    })
}

//! Runs that start from where another one is.

use crate::error::CliError;
use crate::run_errors::{run_error, store_error};
use autocomp_core::{ContentHash, Plan};
use autocomp_eval::text;
use autocomp_reports::RunData;
use autocomp_runner::RunView;
use std::path::{Path, PathBuf};

/// The menu item in the record of a kernel that was taken from another run.
const TAKEN: &str = "taken-over";

/// Another run, and what is to be taken from it.
pub struct Origin {
    /// The run.
    pub view: RunView,
    /// Its folder and the kernel chosen, good from any folder.
    pub name: String,
    folder: PathBuf,
    /// A kernel by name; the beam if absent.
    kernel: Option<String>,
}

impl Origin {
    /// Opens the run that `given` names: a folder, or a folder, a colon and a kernel.
    pub fn open(given: &str) -> Result<Self, CliError> {
        let (folder, kernel) = match given.rsplit_once(':') {
            Some((folder, kernel)) if !Path::new(given).exists() => (folder, Some(kernel)),
            _ => (given, None),
        };
        let view = RunView::open(Path::new(folder)).map_err(|error| run_error(&error))?;
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
        let kernel = kernel.map(str::to_owned);
        let suffix = kernel.iter().map(|kernel| format!(":{kernel}"));
        Ok(Self {
            view,
            name: folder.display().to_string() + &suffix.collect::<String>(),
            folder,
            kernel,
        })
    }

    /// Returns the folder of the run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the kernels to take, and how each came about.
    pub fn kernels(&self) -> Result<Vec<(String, Plan)>, CliError> {
        let search = &self.view.search;
        let baseline = search.started().baseline;
        let sources: Vec<ContentHash> = match &self.kernel {
            Some(kernel) => vec![self.source(kernel)?],
            None => {
                let beam = search.beam().iter().filter_map(|id| search.candidate(*id));
                beam.map(|candidate| candidate.source).collect()
            }
        };
        let sources = sources.into_iter().filter(|source| *source != baseline);
        sources
            .map(|source| {
                let text = self
                    .view
                    .blobs()
                    .get_text(source)
                    .map_err(|error| store_error(&error))?;
                let plan = Plan {
                    menu_item: TAKEN.to_owned(),
                    text: self.story(source),
                    payload: String::new(),
                    proposer: TAKEN.to_owned(),
                };
                Ok((text, plan))
            })
            .collect()
    }

    fn source(&self, kernel: &str) -> Result<ContentHash, CliError> {
        let run = RunData::of(&self.view);
        let found = run.kernel(kernel).filter(|it| it.outcome.is_right());
        found.map(|it| it.source).ok_or_else(|| {
            CliError::usage(format!(
                "the run to start from has no right kernel `{kernel}`"
            ))
            .hint("`best`, or a name from `autocomp show RUN --all`, such as `c12`")
        })
    }

    /// Tells where a kernel comes from: its cost there, and the steps that led to it.
    fn story(&self, source: ContentHash) -> String {
        let search = &self.view.search;
        let mut story = "Taken over from an earlier run".to_owned();
        let cost = search.evaluation(source).and_then(|it| it.cost());
        if let Some(cost) = cost {
            story += &format!(
                ", on {}, where it takes {} {}",
                search.started().problem,
                text::grouped(cost.value),
                cost.unit
            );
        }
        let lineage = search.id_of(source).map(|id| search.lineage(id));
        let steps: Vec<String> = lineage
            .unwrap_or_default()
            .into_iter()
            .filter_map(|step| step.plan.map(|plan| plan.menu_item))
            .collect();
        if !steps.is_empty() {
            story += &format!("; the steps to it were {}", steps.join(", "));
        }
        story + "."
    }
}

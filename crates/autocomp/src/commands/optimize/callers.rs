//! Arguments that other commands make.

use super::Arguments;
use crate::queueing::QueueOptions;
use crate::settings::Settings;
use crate::workplace::WorkplaceOptions;
use std::path::Path;

impl Arguments {
    /// Returns the arguments of a run with a settings file, to be started or continued.
    pub fn of_study(
        settings: &Path,
        folder: &Path,
        is_started: bool,
        max_usd: Option<f64>,
        workplace: &WorkplaceOptions,
        queue: &QueueOptions,
    ) -> Self {
        let (workplace, queue) = (workplace.clone(), queue.clone());
        if is_started {
            return Self {
                resume: Some(folder.to_owned()),
                max_usd,
                workplace,
                queue,
                ..Self::default()
            };
        }
        Self {
            config: Some(settings.to_owned()),
            run_dir: Some(folder.to_owned()),
            max_usd,
            workplace,
            queue,
            ..Self::default()
        }
    }

    /// Returns the arguments of a run that translates what is left of a kernel's original.
    pub fn of_translation(
        (problem, target): (&str, Option<&str>),
        kernel: &Path,
        iterations: u32,
        settings: &Settings,
        run_dir: Option<&Path>,
        workplace: &WorkplaceOptions,
    ) -> Self {
        let asking = &settings.asking;
        // A path, and not the name of a kernel of the problem.
        let kernel = std::path::absolute(kernel).unwrap_or_else(|_| kernel.to_owned());
        Self {
            problem: Some(problem.to_owned()),
            target: target.map(str::to_owned),
            baseline: Some(kernel.to_string_lossy().into_owned()),
            iterations: Some(iterations),
            translation: Some(iterations),
            models: settings.models.clone(),
            max_usd: settings.budget.max_usd,
            keys: asking.keys.clone(),
            prices: asking.prices.clone(),
            allow_unknown_prices: asking.allow_unknown_prices,
            run_dir: run_dir.map(Path::to_owned),
            workplace: workplace.clone(),
            ..Self::default()
        }
    }
}

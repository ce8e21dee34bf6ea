//! What changes from one schedule to another, in words.

use crate::change::Change;
use crate::nest::Nest;
use crate::points::Points;
use crate::rows::Rows;

impl Rows {
    /// Returns what changes, each with a sentence.
    pub(crate) fn changes(&self, before: Option<&Self>, nest: &Nest) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        if before.map(|it| it.team) != Some(self.team) {
            let who = match self.team {
                32 => "a warp".to_owned(),
                team if team < 32 => format!("{team} threads of a warp"),
                team => format!("a block of {team} threads"),
            };
            let row = if nest.points.is_empty() {
                "the whole"
            } else {
                "each row"
            };
            found.push((Change::WarpPerRow, format!("Give {row} to {who}.")));
            if before.is_none() {
                let how = match self.team {
                    ..=32 => "Join what the threads have by shuffles.",
                    _ => {
                        "Join what the threads have by shuffles, then what the warps have through shared memory."
                    }
                };
                found.push((Change::WarpShuffle, how.into()));
            }
        }
        if before.map_or(1, |it| it.vector) != self.vector {
            found.push((
                Change::VectorizeLoads,
                format!("Load and store {} elements at once.", self.vector),
            ));
        }
        if before.is_some_and(|it| it.keep) != self.keep {
            found.push((
                Change::FewerPasses,
                match self.keep {
                    true => "Keep what several loops need in registers.".into(),
                    false => "Read elements again in each loop.".into(),
                },
            ));
        }
        if before.map_or(1, |it| it.split) != self.split {
            found.push((Change::SplitReduction, match self.split {
                1 => "Let one block do the whole sum.".into(),
                split => format!("Share the sum among {split} blocks, and add up their results in a second launch."),
            }));
        }
        if before.is_some_and(|it| it.fast) != self.fast {
            found.push((
                Change::FastFunctions,
                match self.fast {
                    true => "Take fast functions, and multiply by reciprocals instead of dividing."
                        .into(),
                    false => "Take exact functions and divisions.".into(),
                },
            ));
        }
        if before.is_some_and(|it| it.threads != self.threads && it.team == self.team) {
            found.push((
                Change::Threads,
                format!("Launch blocks of {} threads.", self.threads),
            ));
        }
        found
    }
}

impl Points {
    /// Returns what changes, each with a sentence.
    pub(crate) fn changes(&self, before: Option<&Self>, nest: &Nest) -> Vec<(Change, String)> {
        let mut found = Vec::new();
        if before.map_or(1, |it| it.vector) != self.vector {
            found.push((
                Change::VectorizeLoads,
                format!("Load and store {} elements at once.", self.vector),
            ));
        }
        let Some((last, outer)) = self.each.split_last() else {
            return found;
        };
        let ones = vec![1; outer.len()];
        let old = before.and_then(|it| it.each.split_last());
        if old.map_or(&ones[..], |it| it.1) != outer {
            let each: Vec<String> = outer
                .iter()
                .zip(&nest.points)
                .filter(|it| 1 < *it.0)
                .map(|(count, point)| format!("{count} along `{}`", point.name))
                .collect();
            found.push((
                Change::RegisterTiling,
                match each.is_empty() {
                    true => {
                        "Let each thread compute one result along the outer coordinates.".into()
                    }
                    false => format!(
                        "Let each thread compute several results: {}.",
                        each.join(", ")
                    ),
                },
            ));
        }
        if old.map_or(1, |it| *it.0) != *last {
            found.push((
                Change::MoreWork,
                format!("Let each thread do {last} elements that lie a block apart."),
            ));
        }
        if found.is_empty()
            || before.is_some_and(|it| (it.across, it.down) != (self.across, self.down))
        {
            found.push((
                Change::Threads,
                format!("Launch blocks of {}x{} threads.", self.across, self.down),
            ));
        }
        found
    }
}

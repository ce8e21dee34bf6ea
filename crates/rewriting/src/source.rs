//! Kernels that are made of a plain kernel and a schedule, which stand in their comments.

use serde::Serialize;
use serde::de::DeserializeOwned;

const HEAD: &str = "// Made of a plain kernel and a schedule. Go on by hand, or change the\n// schedule and make it anew.\n";
const PLAIN_MARK: &str = "//| ";
const SCHEDULE_MARK: &str = "// schedule: ";

/// A kernel that was read: a plain one, or one that was made.
#[derive(Debug)]
pub struct Source<P, S> {
    /// The plain kernel.
    plain: String,
    /// The plain kernel as it was read.
    pub program: P,
    /// The schedule that the kernel was made with; none for a plain one.
    pub schedule: Option<S>,
}

impl<P, S: Serialize + DeserializeOwned> Source<P, S> {
    /// Reads a kernel by `read`, which reads plain ones; `write` writes the code of one that was
    /// made.
    ///
    /// # Errors
    /// What `read` refuses; a schedule that is none; a kernel that was changed since it was made.
    pub fn read<R: for<'a> From<&'a str>>(
        source: &str,
        read: impl FnOnce(&str) -> Result<P, R>,
        write: impl FnOnce(&P, &S) -> Option<String>,
    ) -> Result<Self, R> {
        let Some((plain, schedule)) = origin(source) else {
            return Ok(Self {
                program: read(source)?,
                plain: source.to_owned(),
                schedule: None,
            });
        };
        let schedule: S =
            serde_json::from_str(schedule).map_err(|error| R::from(&error.to_string()))?;
        let mut found = Self {
            program: read(&plain)?,
            plain,
            schedule: None,
        };
        if found.made(&schedule, write).as_deref() != Some(source) {
            let message = "the kernel was changed since it was made of a plain one and a schedule";
            return Err(message.into());
        }
        found.schedule = Some(schedule);
        Ok(found)
    }

    /// Returns the kernel that `write` makes of the plain one and a schedule, behind these two.
    pub fn made(
        &self,
        schedule: &S,
        write: impl FnOnce(&P, &S) -> Option<String>,
    ) -> Option<String> {
        let code = write(&self.program, schedule)?;
        let schedule = serde_json::to_string(schedule).ok()?;
        let kept: String = self
            .plain
            .lines()
            .map(|line| format!("{}\n", format!("{PLAIN_MARK}{line}").trim_end()))
            .collect();
        Some(format!("{HEAD}{kept}{SCHEDULE_MARK}{schedule}\n{code}"))
    }
}

/// Returns whether a kernel says that it was made of another one.
#[must_use]
pub fn is_made(source: &str) -> bool {
    source.lines().any(|it| it.starts_with(SCHEDULE_MARK))
}

/// Returns the plain kernel and the schedule, as JSON on one line, that a kernel says it was made
/// of.
fn origin(source: &str) -> Option<(String, &str)> {
    let schedule = source
        .lines()
        .find_map(|line| line.strip_prefix(SCHEDULE_MARK))?;
    let plain: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix(PLAIN_MARK.trim_end()))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    (!plain.is_empty()).then(|| (plain.join("\n") + "\n", schedule))
}

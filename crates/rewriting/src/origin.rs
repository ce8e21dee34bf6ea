//! What a kernel was made of, in its comments.

const HEAD: &str = "// Made of a plain kernel and a schedule. Go on by hand, or change the\n// schedule and make it anew.\n";
const PLAIN_MARK: &str = "//| ";
const SCHEDULE_MARK: &str = "// schedule: ";

/// A plain kernel, and the schedule that another one was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The plain kernel.
    pub plain: String,
    /// The schedule, as JSON on one line.
    pub schedule: String,
}

impl Origin {
    /// Reads what a kernel says of itself; nothing if it was made of nothing.
    #[must_use]
    pub fn of(source: &str) -> Option<Self> {
        let schedule = source
            .lines()
            .find_map(|line| line.strip_prefix(SCHEDULE_MARK))?;
        let plain: Vec<&str> = source
            .lines()
            .filter_map(|line| line.strip_prefix(PLAIN_MARK.trim_end()))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect();
        (!plain.is_empty()).then(|| Self {
            plain: plain.join("\n") + "\n",
            schedule: schedule.to_owned(),
        })
    }

    /// Returns whether a kernel says that it was made of another one.
    #[must_use]
    pub fn is_claimed(source: &str) -> bool {
        source.lines().any(|it| it.starts_with(SCHEDULE_MARK))
    }

    /// Returns the kernel: `code` behind what it was made of.
    #[must_use]
    pub fn before(&self, code: &str) -> String {
        let kept: String = self
            .plain
            .lines()
            .map(|line| format!("{}\n", format!("{PLAIN_MARK}{line}").trim_end()))
            .collect();
        format!("{HEAD}{kept}{SCHEDULE_MARK}{}\n{code}", self.schedule)
    }
}

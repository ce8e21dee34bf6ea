//! What an evaluation says when a kernel cannot be run.

use serde::Serialize;

/// Who is at fault, as far as the interpreter can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The text is not Python, or too deep or too long to be read.
    Syntax,
    /// Python or an interface of the language that is not understood here.
    Unsupported,
    /// An error that Python itself would raise (names, types, indices, assertions).
    Python,
    /// What the compilers of the language reject: limits, scopes, memories, hazards.
    Rejected,
    /// A limit of the evaluation was reached.
    Limit,
    /// The inputs given to the kernel do not fit.
    Input,
}

/// One structured diagnostic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failure {
    /// Kind of fault.
    pub kind: FailureKind,
    /// Stable code in kebab-case, such as `num-partition-exceed-arch-limit`.
    pub code: String,
    /// What is wrong, with the parameter and its shape. Starts with the code of the vendor's
    /// compiler where that documents one, so that texts match those known from it.
    pub message: String,
    /// Line of the kernel file, from 1; 0 where no line applies.
    pub line: u32,
    /// What to do about it.
    pub remedy: String,
}

/// Result of every fallible step of an evaluation.
pub type Outcome<T> = Result<T, Box<Failure>>;

impl Failure {
    /// A failure without a line; the interpreter adds that of the statement being run.
    pub fn new(
        kind: FailureKind,
        code: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self {
            kind,
            code: code.to_owned(),
            message: message.into(),
            line: 0,
            remedy: remedy.into(),
        })
    }

    /// An error class that the vendor documents (`err_…`).
    pub fn documented(
        name: &str,
        message: impl AsRef<str>,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        let code = name.strip_prefix("err_").unwrap_or(name).replace('_', "-");
        Self::new(
            FailureKind::Rejected,
            &code,
            format!("{name}: {}", message.as_ref()),
            remedy,
        )
    }

    /// An error of Python's own.
    pub fn python(code: &str, message: impl Into<String>, remedy: impl Into<String>) -> Box<Self> {
        Self::new(FailureKind::Python, code, message, remedy)
    }

    /// Something not understood here.
    pub fn unsupported(
        code: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Box<Self> {
        Self::new(FailureKind::Unsupported, code, message, remedy)
    }

    /// The same failure at `line`, unless it already names one.
    #[must_use]
    pub fn at(mut self: Box<Self>, line: u32) -> Box<Self> {
        if self.line == 0 {
            self.line = line;
        }
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{} [{}]", self.message, self.code)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

//! The machine file of a board.

use autocomp_measuring::DeviceFile;
use autocomp_remote::{Host, Manners};
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// `machines/NAME.toml` with `backend = "board"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `"board"`.
    #[serde(rename = "backend")]
    _backend: String,
    /// What it is, in a sentence.
    #[serde(rename = "description")]
    _description: String,
    /// Machine of the same target on which kernels are checked before they may run here.
    pub simulated: String,
    /// The board, as `ssh` knows it (`user@host`); absent: this computer.
    #[serde(default)]
    pub(crate) host: Option<Host>,
    /// Folder for work on the board; made if it is missing.
    pub(crate) folder: PathBuf,
    /// Where the board shows its clocks and temperatures.
    #[serde(default = "system")]
    pub(crate) system: PathBuf,
    /// The core to run on.
    #[serde(default)]
    pub(crate) core: u32,
    /// Words before each program that runs on the board: `["chrt", "-f", "50"]`.
    #[serde(default)]
    pub(crate) through: Vec<String>,
    /// The governor that keeps the clock where it is.
    #[serde(default = "performance")]
    pub(crate) governor: String,
    /// Degrees above which nothing is timed.
    #[serde(default = "degrees")]
    pub(crate) celsius: f64,
    /// Most seconds that are waited until the board is cooler.
    #[serde(default = "minutes")]
    pub(crate) cooling_seconds: u64,
    /// Most seconds that one run may take.
    pub(crate) seconds: u64,
    /// How often a lost connection is made again.
    #[serde(default = "attempts")]
    pub(crate) attempts: u32,
    /// Milliseconds before that; each time twice as many.
    #[serde(default = "pause")]
    pub(crate) pause_ms: u64,
    /// Least milliseconds from one command to the next.
    #[serde(default)]
    pub(crate) interval_ms: u64,
}

fn system() -> PathBuf {
    "/sys".into()
}

fn performance() -> String {
    "performance".into()
}

fn degrees() -> f64 {
    80.0
}

fn minutes() -> u64 {
    300
}

fn attempts() -> u32 {
    4
}

fn pause() -> u64 {
    1000
}

impl Settings {
    pub(crate) fn manners(&self) -> Manners {
        Manners {
            attempts: self.attempts,
            pause: Duration::from_millis(self.pause_ms),
            interval: Duration::from_millis(self.interval_ms),
        }
    }
}

impl DeviceFile for Settings {
    const BACKEND: &'static str = "board";

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("seconds", self.seconds),
            ("attempts", u64::from(self.attempts)),
        ]
    }
}

//! What figures a machine file may have.

use super::Machine;
use super::tables::Figure;

/// Architectures whose kernels are compiled and simulated.
const ARCHITECTURES: [&str; 5] = ["sm_80", "sm_86", "sm_87", "sm_89", "sm_90"];

impl Machine {
    /// Returns the first key that says what no GPU is, and what is wrong with it.
    pub(super) fn misfit(&self) -> Option<(String, String)> {
        if !ARCHITECTURES.contains(&&*self.architecture) {
            let message = format!(
                "`architecture` is {:?} and must be one of {}",
                self.architecture,
                ARCHITECTURES.join(", ")
            );
            return Some(("architecture".to_owned(), message));
        }
        let tables = [
            self.figures(),
            self.barrier.figures(),
            self.caches.figures(),
            self.atomics.figures(),
            self.overlap.figures(),
            self.latencies.figures(),
        ];
        let outside = tables
            .into_iter()
            .flatten()
            .find(|(_, value, range)| !range.contains(value));
        if let Some((key, value, range)) = outside {
            let (least, most) = (range.start(), range.end());
            let message = format!("`{key}` is {value} and must be from {least} to {most}");
            return Some((key.to_owned(), message));
        }
        let granule = self.caches.granule_bytes;
        if !granule.is_multiple_of(32) {
            let key = "caches.granule_bytes";
            let message = format!("`{key}` is {granule} and must be a multiple of 32");
            return Some((key.to_owned(), message));
        }
        let disordered = self.ascending().into_iter().find(|[a, b]| b.1 < a.1);
        disordered.map(|[(less, small), (more, large)]| {
            let message = format!("`{less}` is {small}, more than `{more}`, which is {large}");
            (less.to_owned(), message)
        })
    }

    /// Returns the figures outside of tables, with what they may be: each range holds all GPUs
    /// that there are with room for others, but no slip of a thousand.
    fn figures(&self) -> Vec<Figure> {
        let mut figures = vec![
            ("sms", f64::from(self.sms), 1.0..=1024.0),
            ("clock_mhz", self.clock_mhz, 100.0..=10_000.0),
            ("fp32_lanes", self.fp32_lanes, 1.0..=1024.0),
            ("alu_lanes", self.alu_lanes, 1.0..=1024.0),
            ("int_lanes", self.int_lanes, 1.0..=1024.0),
            ("fp64_lanes", self.fp64_lanes, 0.5..=1024.0),
            ("special_lanes", self.special_lanes, 1.0..=1024.0),
            ("tensor_macs", self.tensor_macs, 1.0..=65_536.0),
            ("warps", f64::from(self.warps), 1.0..=128.0),
            ("blocks", f64::from(self.blocks), 1.0..=128.0),
            ("registers", f64::from(self.registers), 1024.0..=1_048_576.0),
            ("shared_bytes", self.shared_bytes as f64, 1024.0..=MIB),
            (
                "block_shared_bytes",
                self.block_shared_bytes as f64,
                1024.0..=MIB,
            ),
            ("l1_bytes", self.l1_bytes as f64, 1024.0..=16.0 * MIB),
            ("l1_bytes_per_cycle", self.l1_bytes_per_cycle, 1.0..=4096.0),
            ("l2_bytes", self.l2_bytes as f64, 65_536.0..=16_384.0 * MIB),
            ("l2_copies", self.l2_copies, 1.0..=16.0),
            ("l2_bytes_per_ns", self.l2_bytes_per_ns, 1.0..=1e6),
            ("dram_bytes_per_ns", self.dram_bytes_per_ns, 1.0..=1e6),
            (
                "dram_peak_bytes_per_ns",
                self.dram_peak_bytes_per_ns,
                1.0..=1e6,
            ),
            ("shared_latency", self.shared_latency, 1.0..=10_000.0),
            ("l1_latency", self.l1_latency, 1.0..=10_000.0),
            ("l2_latency", self.l2_latency, 1.0..=10_000.0),
            ("dram_latency", self.dram_latency, 1.0..=100_000.0),
            ("launch_ns", self.launch_ns, 1.0..=1e6),
            ("block_ns", self.block_ns, 1e-6..=1e4),
            ("host_bytes_per_ns", self.host_bytes_per_ns, 1e-3..=1e5),
            ("spread_percent", self.spread_percent, 0.01..=99.0),
        ];
        let optional = [
            ("matrix_clock_mhz", self.matrix_clock_mhz, 100.0..=10_000.0),
            (
                "l2_write_bytes_per_ns",
                self.l2_write_bytes_per_ns,
                1.0..=1e6,
            ),
            (
                "dram_write_bytes_per_ns",
                self.dram_write_bytes_per_ns,
                1.0..=1e6,
            ),
        ];
        let given = optional.into_iter();
        figures.extend(given.filter_map(|(key, value, range)| Some((key, value?, range))));
        figures
    }

    /// Returns pairs of figures of which the first is not more than the second.
    fn ascending(&self) -> [[(&'static str, f64); 2]; 7] {
        let peak = ("dram_peak_bytes_per_ns", self.dram_peak_bytes_per_ns);
        let shared = ("shared_bytes", self.shared_bytes as f64);
        let of_block = ("block_shared_bytes", self.block_shared_bytes as f64);
        let l2_latency = ("l2_latency", self.l2_latency);
        [
            [("dram_bytes_per_ns", self.dram_bytes_per_ns), peak],
            [
                ("dram_write_bytes_per_ns", self.dram_write_bytes_per_ns()),
                peak,
            ],
            [of_block, shared],
            [shared, ("l1_bytes", self.l1_bytes as f64)],
            [
                ("l1_bytes", self.l1_bytes as f64),
                ("l2_bytes", self.l2_bytes as f64),
            ],
            [("l1_latency", self.l1_latency), l2_latency],
            [l2_latency, ("dram_latency", self.dram_latency)],
        ]
    }
}

/// Bytes.
const MIB: f64 = 1_048_576.0;

/// Says what the TOML reader found wrong in `text`, and in which line.
pub(super) fn misread(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim_end().replace('\n', "; ");
    // A key that is missing from the file has the whole file for a place, from the first byte.
    match error.span().filter(|span| 0 < span.start) {
        Some(span) => {
            let before = text.as_bytes().iter().take(span.start);
            let line = 1 + before.filter(|byte| **byte == b'\n').count();
            format!("line {line}: {message}")
        }
        None => message,
    }
}

/// Returns `message` behind the line of `text` that sets `key` (`caches.all_miss` of the table
/// `[caches]`), if a line begins so.
pub(super) fn placed(text: &str, key: &str, message: String) -> String {
    let (wanted, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(named) = line.strip_prefix('[') {
            table = named.split(']').next().unwrap_or_default().trim();
        }
        let is_set = line.split_once('=').is_some_and(|it| it.0.trim() == name);
        if table == wanted && is_set {
            return format!("line {}: {message}", at + 1);
        }
    }
    message
}

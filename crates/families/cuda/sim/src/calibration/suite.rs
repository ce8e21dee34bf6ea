//! Cases that a device measured: launches, what their buffers hold, and their times.

use std::collections::BTreeMap;

/// Below so many nanoseconds, the time of the launches alone is compared, if it was counted:
/// times by events hold some microseconds more.
const SHORT_NS: f64 = 20_000.0;

/// All cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// In the order of the table.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name: group, kernel, shape, with points between.
    pub id: String,
    /// File of its kernels, without `.cu`.
    pub file: String,
    /// What is launched.
    pub launches: Vec<Planned>,
    /// Measured nanoseconds with an L2 that holds nothing of it.
    pub cold_ns: f64,
    /// Whether `cold_ns` is of the launches alone, without events.
    pub is_counted: bool,
    /// Measured nanoseconds after a run of the same; not of short ones.
    pub warm_ns: Option<f64>,
}

impl Case {
    /// Returns the group that it belongs to.
    #[must_use]
    pub fn group(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// Returns what it has in common with the other ways to compute the same: its group and
    /// its shape.
    #[must_use]
    pub fn set(&self) -> (&str, &str) {
        (self.group(), self.id.rsplit('.').next().unwrap_or_default())
    }
}

/// One launch of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Name of the kernel as the source has it, with the numbers of a template.
    pub kernel: String,
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Threads of a block in each direction.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether blocks need what others leave, so that all of them run.
    pub all_blocks: bool,
    /// What it is given.
    pub arguments: Vec<Argument>,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A whole number.
    Whole(i32),
    /// A buffer.
    Buffer {
        /// Its name.
        name: String,
        /// What it holds, and how many elements; nothing if an earlier argument said so.
        content: Option<(String, u64)>,
    },
}

/// Columns of the table of launches.
const COLUMNS: [&str; 8] = [
    "id",
    "file",
    "kernel",
    "grid",
    "block",
    "shared",
    "blocks",
    "arguments",
];

impl Suite {
    /// Reads a suite: `launches.tsv`, `results.tsv`, and `counters.tsv` if there is one.
    ///
    /// # Errors
    /// The table and the line, and what is wrong there.
    pub fn parse(launches: &str, results: &str, counters: Option<&str>) -> Result<Self, String> {
        let columns = ["id", "cold_med_us", "warm_med_us"];
        let mut measured = BTreeMap::new();
        for (_, [id, cold, warm]) in rows("results.tsv", results, columns)? {
            // A case that was not timed has no figure.
            if let (Ok(cold), Ok(warm)) = (cold.parse::<f64>(), warm.parse::<f64>()) {
                measured.insert(id, (cold * 1000.0, warm * 1000.0));
            }
        }
        let mut counted = BTreeMap::new();
        let table = counters.unwrap_or("id\ttime_ns\n");
        for (line, [id, ns]) in rows("counters.tsv", table, ["id", "time_ns"])? {
            let ns: f64 = ns
                .parse()
                .map_err(|_| format!("counters.tsv:{line}: `{ns}` is no time"))?;
            *counted.entry(id).or_insert(0.0) += ns;
        }
        let mut cases: Vec<Case> = Vec::new();
        for (line, [id, file, rest @ ..]) in rows("launches.tsv", launches, COLUMNS)? {
            let planned = planned(rest).map_err(|error| format!("launches.tsv:{line}: {error}"))?;
            if let Some(last) = cases.last_mut().filter(|it| it.id == id) {
                last.launches.push(planned);
                continue;
            }
            let (cold, warm) = *measured.get(id).ok_or_else(|| {
                format!("launches.tsv:{line}: results.tsv has no times of `{id}`")
            })?;
            let short = counted.get(id).copied().filter(|_| cold < SHORT_NS);
            cases.push(Case {
                id: id.to_owned(),
                file: file.to_owned(),
                launches: vec![planned],
                cold_ns: short.unwrap_or(cold),
                is_counted: short.is_some(),
                warm_ns: Some(warm).filter(|it| SHORT_NS <= *it),
            });
        }
        Ok(Self { cases })
    }
}

/// Returns the cells of some columns in each row of a table, with the numbers of the lines.
fn rows<'t, const N: usize>(
    name: &str,
    text: &'t str,
    columns: [&str; N],
) -> Result<Vec<(usize, [&'t str; N])>, String> {
    let mut lines = (1..).zip(text.lines());
    let (_, head) = lines.next().ok_or_else(|| format!("{name}: it is empty"))?;
    let head: Vec<&str> = head.split('\t').collect();
    let mut places = [0; N];
    for (place, column) in places.iter_mut().zip(columns) {
        let found = head.iter().position(|it| *it == column);
        *place = found.ok_or_else(|| format!("{name}:1: there is no column `{column}`"))?;
    }
    let mut rows = Vec::new();
    for (line, text) in lines.filter(|(_, text)| !text.starts_with('#') && !text.is_empty()) {
        let cells: Vec<&str> = text.split('\t').collect();
        let mut row = [""; N];
        for (cell, place) in row.iter_mut().zip(places) {
            *cell = cells
                .get(place)
                .ok_or_else(|| format!("{name}:{line}: a row of {} cells", cells.len()))?;
        }
        rows.push((line, row));
    }
    Ok(rows)
}

fn planned([kernel, grid, block, shared, blocks, arguments]: [&str; 6]) -> Result<Planned, String> {
    let number = |text: &str| -> Result<u32, String> {
        text.parse().map_err(|_| format!("`{text}` is no number"))
    };
    let triple = |text: &str| -> Result<[u32; 3], String> {
        let mut triple = [1; 3];
        for (part, text) in triple.iter_mut().zip(text.split('x')) {
            *part = number(text)?;
        }
        Ok(triple)
    };
    let all_blocks = match blocks {
        "all" => true,
        "some" => false,
        _ => return Err(format!("`{blocks}` is neither `all` nor `some`")),
    };
    let mut list = Vec::new();
    for text in arguments.split_whitespace().filter(|it| *it != "-") {
        list.push(match text.split_once([':', '=']) {
            Some(("i", value)) => Argument::Whole(number(value)? as i32),
            Some((name, content)) => {
                let (kind, count) = content
                    .split_once(':')
                    .ok_or_else(|| format!("`{text}` does not say how many elements"))?;
                Argument::Buffer {
                    name: name.to_owned(),
                    content: Some((kind.to_owned(), number(count)?.into())),
                }
            }
            None => Argument::Buffer {
                name: text.to_owned(),
                content: None,
            },
        });
    }
    Ok(Planned {
        kernel: kernel.to_owned(),
        grid: triple(grid)?,
        block: triple(block)?,
        shared: number(shared)?,
        all_blocks,
        arguments: list,
    })
}

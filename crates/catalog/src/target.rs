//! A target: one accelerator configuration that kernels are written for.

use crate::data_type::DataType;
use crate::error::CatalogError;
use crate::example::{Example, examples};
use crate::isa::{self, Identifiers, IsaSection};
use crate::menu;
use crate::problem::{Problem, Work};
use crate::toml_text::{Source, parse_file};
use crate::tree::Tree;
use autocomp_core::{ContentHash, ContentHasher, Cost, MenuItem, Unit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

/// Upper bounds of the machine, for the physical floor of a kernel's cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Multiply-accumulate steps per unit of cost at peak.
    pub peak_macs: f64,
    /// Bytes per unit of cost, in both directions together, at peak.
    pub bytes: f64,
    /// The unit.
    pub unit: Unit,
}

impl Roofline {
    /// Returns what `work` costs at least.
    #[must_use]
    pub fn floor(&self, work: &Work) -> Cost {
        let compute = work.macs as f64 / self.peak_macs;
        let traffic = work.bytes as f64 / self.bytes;
        Cost {
            value: compute.max(traffic).ceil() as u64,
            unit: self.unit,
            spread_ppm: 0,
        }
    }
}

/// A roofline as written, by its unit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum RooflineFile {
    Cycles {
        peak_macs_per_cycle: f64,
        bytes_per_cycle: f64,
    },
    Nanoseconds {
        peak_macs_per_ns: f64,
        bytes_per_ns: f64,
    },
}

/// What plans and code must keep to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Rules for both.
    pub general: Vec<String>,
    /// Rules for plans.
    pub plan: Vec<String>,
    /// Rules for code.
    pub code: Vec<String>,
    /// Rules for plans of a whole schedule.
    #[serde(default)]
    pub schedule: Vec<String>,
}

impl Rules {
    /// Returns these rules, and behind them those of `more` that they lack.
    #[must_use]
    pub fn followed_by(&self, more: &Self) -> Self {
        let both = |first: &[String], second: &[String]| {
            let others = second.iter().filter(|it| !first.contains(it));
            first.iter().chain(others).cloned().collect()
        };
        Self {
            general: both(&self.general, &more.general),
            plan: both(&self.plan, &more.plan),
            code: both(&self.code, &more.code),
            schedule: both(&self.schedule, &more.schedule),
        }
    }
}

/// A name that kernels may use for a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// The number, as kernels would write it.
    pub value: String,
    /// What it is, in a few words.
    pub text: String,
}

/// A target, complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Name : its folder.
    pub name: String,
    /// The kind of target, which decides who evaluates its kernels.
    pub family: String,
    /// Language of kernels (`c`).
    pub language: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Machine parameter files by name, as TOML text.
    pub machines: BTreeMap<String, String>,
    /// Paths of these files by name, from the root of the built-in data or as the user gave them.
    #[serde(default)]
    pub machine_paths: BTreeMap<String, String>,
    /// The machine to measure on unless another is asked for.
    pub default_machine: String,
    /// What a kernel writer must know, as Markdown.
    pub architecture: String,
    /// The ISA reference.
    pub isa: Vec<IsaSection>,
    /// Optimizations a plan may choose; has [`MenuItem::OTHER`].
    pub menu: Vec<MenuItem>,
    /// Types of elements, of which a problem must have one for an item of the menu to be
    /// offered, by the item's identifier; items that are not in here fit all problems.
    pub dtypes: BTreeMap<String, Vec<DataType>>,
    /// What plans and code must keep to.
    pub rules: Rules,
    /// Names of numbers, with their values.
    pub constants: Vec<Constant>,
    /// What counters in the feedback mean, by name; a `*` at the end stands for
    /// the rest of the name.
    pub counters: BTreeMap<String, String>,
    /// Worked examples.
    pub examples: Vec<Example>,
    /// Prompt templates that override the built-in ones, by file name.
    pub templates: BTreeMap<String, String>,
    /// Runtime files by name: headers, start code, linker script.
    #[serde(with = "crate::file_bytes")]
    pub runtime: BTreeMap<String, Vec<u8>>,
    /// Upper bounds of the machine; none where they are measured.
    pub roofline: Option<Roofline>,
    /// Hash of everything above.
    pub content_hash: ContentHash,
    /// Hash of the runtime files: what a build depends on.
    pub runtime_hash: ContentHash,
}

impl Target {
    /// Returns the parameters of a machine as TOML text; of the default
    /// machine if `name` is none.
    ///
    /// # Errors
    /// [`CatalogError::Unknown`] with the names there are.
    pub fn machine(&self, name: Option<&str>) -> Result<&str, CatalogError> {
        let name = name.unwrap_or(&self.default_machine);
        self.machines
            .get(name)
            .map(String::as_str)
            .ok_or_else(|| CatalogError::unknown("machine", name, self.machines.keys().cloned()))
    }

    /// Returns the sections of the ISA reference that a kernel with this
    /// source needs: those that explain a name in it, and those for all.
    #[must_use]
    pub fn isa_for(&self, source: &str) -> Vec<&IsaSection> {
        let identifiers = Identifiers::of(source);
        self.isa
            .iter()
            .filter(|section| identifiers.need(&section.symbols))
            .collect()
    }

    /// Returns the items of the menu that fit the types of a problem's buffers.
    #[must_use]
    pub fn menu_for(&self, problem: &Problem) -> Vec<MenuItem> {
        let fits = |item: &&MenuItem| {
            let dtypes = self.dtypes.get(&item.id);
            dtypes.is_none_or(|dtypes| problem.has_any(dtypes))
        };
        self.menu.iter().filter(fits).cloned().collect()
    }

    /// Returns the examples that fit the types of a problem's buffers.
    pub fn examples_for(&self, problem: &Problem) -> impl Iterator<Item = &Example> {
        let examples = self.examples.iter();
        examples.filter(|it| it.dtypes.is_empty() || problem.has_any(&it.dtypes))
    }
}

/// `target.toml` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetFile {
    name: Spanned<String>,
    family: String,
    language: String,
    description: String,
    /// A target whose files stand in for those this folder lacks.
    /// Description, machines and examples are never taken from there.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read by the catalog before the folders are laid over each other"
    )]
    inherits: Option<String>,
    /// Whether `architecture.md` comes from there as well: for one whose figures are all those of
    /// the machine.
    #[serde(default)]
    #[expect(dead_code, reason = "as `inherits`")]
    inherits_architecture: bool,
    default_machine: Spanned<String>,
    #[serde(default)]
    roofline: Option<Spanned<RooflineFile>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConstantsFile {
    constant: Vec<Constant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountersFile {
    counters: BTreeMap<String, String>,
}

/// Returns the name of the machine that a file of a target describes, if it does.
pub(crate) fn machine_of(path: &str) -> Option<&str> {
    path.strip_prefix("machines/")?.strip_suffix(".toml")
}

/// Makes the target `name` of its files.
///
/// # Errors
/// If a file is missing or says something impossible; the error names the place.
pub(crate) fn load(tree: &Tree, name: &str) -> Result<Target, CatalogError> {
    let path = tree.display("target.toml");
    let source = Source {
        path: &path,
        text: tree.text("target.toml", "describe the target in it")?,
    };
    let file: TargetFile = source.parse()?;
    if file.name.get_ref() != name {
        return Err(source.error(
            file.name.span(),
            format!(
                "the target is called `{}` and its folder `{name}`",
                file.name.get_ref()
            ),
            "give both the same name",
        ));
    }
    let roofline = file
        .roofline
        .map(|written| roofline(source, &written))
        .transpose()?;
    let written = menu::load(tree)?;
    let (menu, dtypes) = (written.items, written.dtypes);
    let mut runtime = BTreeMap::new();
    let mut machines = BTreeMap::new();
    let mut machine_paths = BTreeMap::new();
    let mut templates = BTreeMap::new();
    let mut content = ContentHasher::new("target");
    let mut build = ContentHasher::new("target-runtime");
    content.update(name.as_bytes());
    for (path, data) in tree.iter() {
        content.update(path.as_bytes());
        content.update(data);
        if let Some(file) = path.strip_prefix("runtime/") {
            build.update(file.as_bytes());
            build.update(data);
            runtime.insert(file.to_owned(), data.to_vec());
        }
        if let Some(template) = path.strip_prefix("templates/") {
            templates.insert(template.to_owned(), tree.utf8(path, data)?.to_owned());
        }
        if let Some(machine) = machine_of(path) {
            machines.insert(machine.to_owned(), tree.utf8(path, data)?.to_owned());
            machine_paths.insert(machine.to_owned(), tree.display(path));
        }
    }
    let default_machine = file.default_machine.get_ref();
    if !machines.contains_key(default_machine) {
        let known: Vec<&str> = machines.keys().map(String::as_str).collect();
        return Err(source.error(
            file.default_machine.span(),
            format!("there is no machines/{default_machine}.toml"),
            match known.as_slice() {
                [] => "describe a machine in that file; machines are not inherited".to_owned(),
                known => format!("name a machine that there is: {}", known.join(", ")),
            },
        ));
    }
    tree.text("isa.md", "write the ISA reference in it, in sections")?;
    let mut isa: Vec<IsaSection> = Vec::new();
    for (path, data) in tree.iter() {
        // A target that inherits may add sections in files of its own.
        if path.starts_with("isa") && path.ends_with(".md") && !path.contains('/') {
            let display = tree.display(path);
            let source = Source {
                path: &display,
                text: tree.utf8(path, data)?,
            };
            isa::sections(source, path.trim_end_matches(".md"), &mut isa)?;
        }
    }
    Ok(Target {
        name: name.to_owned(),
        family: file.family,
        language: file.language,
        description: file.description,
        machines,
        machine_paths,
        default_machine: file.default_machine.into_inner(),
        architecture: tree
            .text(
                "architecture.md",
                "write in it what a kernel writer must know",
            )?
            .to_owned(),
        isa,
        rules: parse_file(
            tree,
            "rules.toml",
            "list `general`, `plan` and `code` rules in it",
        )?,
        constants: optional::<ConstantsFile>(tree, "constants.toml")?.constant,
        counters: optional::<CountersFile>(tree, "counters.toml")?.counters,
        examples: examples(tree, &menu)?,
        menu,
        dtypes,
        templates,
        runtime,
        roofline,
        content_hash: content.finish(),
        runtime_hash: build.finish(),
    })
}

/// Reads a file that may be absent.
fn optional<T: DeserializeOwned + Default>(tree: &Tree, path: &str) -> Result<T, CatalogError> {
    if tree.contains(path) {
        parse_file(tree, path, "")
    } else {
        Ok(T::default())
    }
}

/// Returns the bounds that work is divided by.
fn roofline(source: Source<'_>, written: &Spanned<RooflineFile>) -> Result<Roofline, CatalogError> {
    let (peak_macs, bytes, unit, per) = match *written.get_ref() {
        RooflineFile::Cycles {
            peak_macs_per_cycle,
            bytes_per_cycle,
        } => (peak_macs_per_cycle, bytes_per_cycle, Unit::Cycles, "cycle"),
        RooflineFile::Nanoseconds {
            peak_macs_per_ns,
            bytes_per_ns,
        } => (peak_macs_per_ns, bytes_per_ns, Unit::Nanoseconds, "ns"),
    };
    for (name, value) in [("peak_macs", peak_macs), ("bytes", bytes)] {
        if !(value.is_finite() && 0.0 < value) {
            return Err(source.error(
                written.span(),
                format!("`roofline.{name}_per_{per}` is {value}"),
                "give what the machine can do at most, more than 0",
            ));
        }
    }
    Ok(Roofline {
        peak_macs,
        bytes,
        unit,
    })
}

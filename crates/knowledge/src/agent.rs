//! Agents that the original Autocomp has built: `.built/NAME`.

use crate::files::{read, read_if_there, yaml};
use crate::markdown::slug;
use crate::{Knowledge, KnowledgeError};
use autocomp_catalog::Rules;
use autocomp_core::{MenuItem, Scope};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use yaml_rust2::Yaml;

/// The file that makes a folder an agent.
pub const CONFIG: &str = "agent_config.yaml";
/// Menus of steps that translate, by the names that they had.
const TRANSLATION: [&str; 2] = ["translation_menu.yaml", "translate_menu.yaml"];

/// Phases of its rules: for all, for plans, for code.
const PHASES: [&str; 3] = ["general", "planning", "coding"];
/// What is read, or told of, beside the menus of steps that translate.
const READ: [&str; 6] = [
    CONFIG,
    "architecture.md",
    "code_examples.md",
    "isa_docs.md",
    "optimization_menu.yaml",
    "rules.yaml",
];
/// Entries of a folder that are told at most.
const MOST_ENTRIES: usize = 100;

/// Returns what lies in a folder, in order.
fn names(folder: &Path) -> Result<BTreeSet<String>, KnowledgeError> {
    let failed = |error: std::io::Error| KnowledgeError::new(folder, error.to_string());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let names = entries.map(|it| it.map(|it| it.file_name().to_string_lossy().into_owned()));
    let names = names.collect::<Result<BTreeSet<_>, _>>().map_err(failed)?;
    Ok(names.into_iter().take(MOST_ENTRIES).collect())
}

/// Reads an agent.
///
/// # Errors
/// A file is missing or unusable.
pub fn read_agent(folder: &Path) -> Result<Knowledge, KnowledgeError> {
    let config = folder.join(CONFIG);
    let config = yaml(&config, &read(&config)?)?;
    let text = |value: &Yaml| value.as_str().unwrap_or_default().trim().to_owned();
    let mut knowledge = Knowledge {
        name: text(&config["agent_name"]),
        description: text(&config["build"]["agent_scope"]),
        architecture: read_if_there(&folder.join("architecture.md"))?.unwrap_or_default(),
        ..Knowledge::default()
    };
    if knowledge.description.is_empty() {
        knowledge.description = text(&config["description"]);
    }
    let mut taken = Vec::new();
    let mut unmapped = Vec::new();
    let mut add = |name: &str, list: &str, scope: Scope| -> Result<(), KnowledgeError> {
        let path = folder.join(name);
        let Some(file) = read_if_there(&path)? else {
            return Ok(());
        };
        for item in yaml(&path, &file)?[list].as_vec().into_iter().flatten() {
            let text = text(&item["strategy"]);
            if text.is_empty() {
                unmapped.push(format!("{name}: an item without a text of its `strategy`"));
                continue;
            }
            let id = slug(&text, &taken);
            taken.push(id.clone());
            knowledge.menu.push(MenuItem {
                id,
                text,
                scope,
                ..MenuItem::default()
            });
        }
        Ok(())
    };
    add("optimization_menu.yaml", "optimizations", Scope::Step)?;
    for name in TRANSLATION {
        add(name, "strategies", Scope::Translation)?;
    }
    knowledge.unmapped.append(&mut unmapped);
    let path = folder.join("rules.yaml");
    if let Some(file) = read_if_there(&path)? {
        let rules = yaml(&path, &file)?;
        let list = |name: &str| -> Vec<String> {
            let list = rules[name].as_vec().into_iter().flatten();
            list.map(text).filter(|it| !it.is_empty()).collect()
        };
        knowledge.rules = Rules {
            general: list(PHASES[0]),
            plan: list(PHASES[1]),
            code: list(PHASES[2]),
            schedule: Vec::new(),
        };
        let phases = rules.as_hash().into_iter().flatten();
        let phases = phases.filter_map(|(name, _)| name.as_str());
        for phase in phases.filter(|it| !PHASES.contains(it)) {
            knowledge
                .unmapped
                .push(format!("rules.yaml: rules of the phase `{phase}`"));
        }
    }
    if let Some(isa) = read_if_there(&folder.join("isa_docs.md"))? {
        knowledge.isa = isa_text(&isa);
    }
    if folder.join("code_examples.md").is_file() {
        // They show whole programs, and ours one change before and after.
        knowledge
            .unmapped
            .push("code_examples.md: examples without a before and after".to_owned());
    }
    for name in names(folder)? {
        if !READ.contains(&name.as_str()) && !TRANSLATION.contains(&name.as_str()) {
            knowledge.unmapped.push(format!("{name}: not read"));
        }
    }
    let sources = config["build"]["sources"].as_vec().into_iter().flatten();
    for source in sources {
        let place = [&source["url"], &source["path"]].map(text).join("");
        knowledge
            .unmapped
            .push(format!("built from {place}, which is not read"));
    }
    Ok(knowledge)
}

/// Returns the reference in the form of ours: a section for each name.
fn isa_text(text: &str) -> String {
    let mut out = String::from("# Instructions\n");
    let mut taken = Vec::new();
    for part in format!("\n{text}").split("\n### ").skip(1) {
        let (title, text) = part.split_once('\n').unwrap_or((part, ""));
        let title = title.trim();
        let id = slug(title, &taken);
        taken.push(id.clone());
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let symbol = title
            .trim_matches('`')
            .split('(')
            .next()
            .unwrap_or_default();
        let symbols = match !symbol.is_empty() && symbol.chars().all(is_name) {
            true => format!("; symbols: {symbol}"),
            false => String::new(),
        };
        // A heading of the second level begins a section.
        let is_rule = |line: &&str| 3 < line.len() && line.chars().all(|c| c == '-');
        let lines = text.lines().filter(|line| !is_rule(line));
        let lines: Vec<String> = lines
            .map(|line| match line.strip_prefix("## ") {
                Some(title) => format!("### {title}"),
                None => line.to_owned(),
            })
            .collect();
        out += &format!(
            "\n## {title}\n<!-- id: {id}{symbols} -->\n{}\n",
            lines.join("\n").trim()
        );
    }
    out
}

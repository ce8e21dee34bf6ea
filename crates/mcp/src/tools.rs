//! The tools as a client sees them: `tools.json`.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Arguments that several tools have.
    shared: Map<String, Value>,
    tools: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    title: String,
    description: String,
    read_only: bool,
    /// Shared arguments that it has.
    uses: Vec<String>,
    /// Arguments of its own.
    #[serde(default)]
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// All tools, in the order in which they are listed.
pub static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let file: File =
        serde_json::from_str(include_str!("tools.json")).expect("the file is built in");
    let tools = file.tools.iter().map(|entry| tool(entry, &file.shared));
    tools.collect()
});

fn tool(entry: &Entry, shared: &Map<String, Value>) -> Tool {
    let mut properties = Map::new();
    for name in &entry.uses {
        properties.insert(name.clone(), shared[name].clone());
    }
    properties.extend(entry.properties.clone());
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": entry.required,
        "additionalProperties": false,
    });
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::new()
        .read_only(entry.read_only)
        .destructive(false)
        .open_world(false);
    Tool::new(
        entry.name.clone(),
        entry.description.clone(),
        Arc::new(schema),
    )
    .with_title(entry.title.clone())
    .with_annotations(annotations)
}

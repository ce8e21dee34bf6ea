//! The tools as a client sees them: `tools.json`.

use crate::calls::Refusal;
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

/// # Errors
/// A [`Refusal`] that names what the tool has, if something is given that it has not.
pub fn only_its_arguments(tool: &Tool, given: &JsonObject) -> Result<(), Refusal> {
    let properties = tool.input_schema["properties"].as_object();
    let known: Vec<&String> = properties.into_iter().flatten().map(|it| it.0).collect();
    match given.keys().find(|it| !known.contains(it)) {
        None => Ok(()),
        Some(unknown) => {
            let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
            let refusal = Refusal::new(format!("the tool `{}` has no `{unknown}`", tool.name));
            Err(refusal.hint(format!("it has {}", known.join(", "))))
        }
    }
}

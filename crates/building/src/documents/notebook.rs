//! Notebooks (`.ipynb`): cells of text and of code. What code printed is left out.

use super::Place;
use super::block::Block;
use super::markdown;
use serde_json::Value;

/// Returns the blocks of a notebook.
pub fn blocks(text: &str) -> Result<Vec<Block>, String> {
    let notebook: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no notebook: {error}"))?;
    let cells = notebook["cells"]
        .as_array()
        .ok_or_else(|| "it is no notebook: it has no cells".to_owned())?;
    let mut blocks = Vec::new();
    for (number, cell) in (1..).zip(cells) {
        let source = match &cell["source"] {
            Value::String(text) => text.clone(),
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        match cell["cell_type"].as_str() {
            Some("markdown") => {
                blocks.extend(markdown::blocks(&source, &|_, _| Place::Cell(number)));
            }
            Some("code" | "raw") => blocks.push(Block::text(source, Place::Cell(number))),
            _ => {}
        }
    }
    Ok(blocks)
}

//! Anthropic Messages, also for Claude on Vertex.
//!
//! Source: Anthropic API reference, "Create a Message", and guides "Prompt
//! caching", "Structured outputs", "Effort" and "Extended thinking".

use super::{
    Reading, Wire, count, cut, effort_name, list, only_thoughts, role_name, text, thinking_budget,
    tool_called, version_after, withheld,
};
use crate::completion::{ReasoningEffort, Request, TokenCount};
use crate::model::{ModelSpec, Provider};
use serde_json::{Map, Value, json};

/// The format for one model.
pub(crate) struct Claude {
    name: String,
    on_vertex: bool,
}

impl Claude {
    pub(crate) fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
            on_vertex: spec.provider == Provider::Vertex,
        }
    }
}

/// Returns the fields that make a Claude model think as hard as asked: newer
/// models take a word and decide themselves, older ones a number of tokens.
pub(crate) fn thinking_fields(
    name: &str,
    effort: ReasoningEffort,
    max_output_tokens: u32,
) -> Map<String, Value> {
    let at_least = |family: &str, version: (u32, u32)| {
        version_after(name, family).is_some_and(|found| version <= found)
    };
    let is_newest = ["claude-fable", "claude-mythos"]
        .iter()
        .any(|family| name.contains(family))
        || at_least("claude-haiku-", (5, 0));
    let adapts =
        is_newest || at_least("claude-opus-", (4, 6)) || at_least("claude-sonnet-", (4, 6));
    let mut fields = Map::new();
    if adapts || at_least("claude-opus-", (4, 5)) {
        fields.insert(
            "output_config".to_owned(),
            json!({ "effort": effort_name(effort) }),
        );
    }
    if adapts {
        fields.insert("thinking".to_owned(), json!({ "type": "adaptive" }));
    } else if fields.is_empty() {
        let budget = thinking_budget(effort, max_output_tokens);
        // Less is refused.
        if 1024 <= budget {
            fields.insert(
                "thinking".to_owned(),
                json!({ "type": "enabled", "budget_tokens": budget }),
            );
        }
    }
    fields
}

impl Wire for Claude {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let mut body = json!({
            "max_tokens": request.max_output_tokens,
            "messages": request.messages.iter().map(|message| json!({
                "role": role_name(message.role), "content": message.text,
            })).collect::<Vec<_>>(),
        });
        if self.on_vertex {
            body["anthropic_version"] = json!("vertex-2023-10-16");
        } else {
            body["model"] = json!(self.name);
        }
        if !request.system.is_empty() {
            body["system"] = json!([{
                "type": "text",
                "text": request.system,
                "cache_control": { "type": "ephemeral" },
            }]);
        }
        if let Some(effort) = request.reasoning {
            for (name, value) in thinking_fields(&self.name, effort, request.max_output_tokens) {
                body[name] = value;
            }
        }
        // A model that thinks takes no temperature.
        if let Some(temperature) = request
            .temperature
            .filter(|_| body.get("thinking").is_none())
        {
            body["temperature"] = json!(temperature);
        }
        if let Some(schema) = &request.schema {
            body["output_config"]["format"] =
                json!({ "type": "json_schema", "schema": schema.schema });
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        if !body.get("content").is_some_and(Value::is_array) {
            return Reading::malformed("the reply holds no content");
        }
        let content = list(body, "/content")
            .iter()
            .filter(|block| text(block, "/type") == "text")
            .map(|block| text(block, "/text"))
            .collect();
        let blocks = list(body, "/content");
        let of_kind =
            |kind: &'static str| blocks.iter().filter(move |it| text(it, "/type") == kind);
        let instead = of_kind("tool_use")
            .find_map(|block| tool_called(text(block, "/name")))
            .or_else(|| only_thoughts(of_kind("thinking").map(|it| text(it, "/thinking"))))
            .or_else(|| only_thoughts(of_kind("redacted_thinking").map(|it| text(it, "/data"))));
        let failure = match text(body, "/stop_reason") {
            "max_tokens" | "model_context_window_exceeded" => Some(cut()),
            "refusal" => Some(withheld("refusal")),
            _ => None,
        };
        let tokens = body
            .get("usage")
            .filter(|usage| usage.is_object())
            .map(|usage| TokenCount {
                input: count(usage, "/input_tokens"),
                cached: count(usage, "/cache_read_input_tokens"),
                cache_write: count(usage, "/cache_creation_input_tokens"),
                output: count(usage, "/output_tokens"),
                reasoning: 0,
            });
        Reading {
            text: content,
            tokens,
            cost: None,
            failure,
            instead,
        }
    }
}

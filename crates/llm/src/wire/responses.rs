//! OpenAI Responses.
//!
//! Source: OpenAI API reference, "Create a model response", and guide "Prompt caching".

use super::chat::has_cache_marks;
use super::{
    Reading, Wire, count, cut, declined, effort_name, list, only_thoughts, role_name, text,
    tool_called, upstream, withheld,
};
use crate::completion::{Request, TokenCount};
use crate::model::ModelSpec;
use serde_json::{Value, json};

/// The format for one model.
pub struct Responses {
    name: String,
    /// Talks to the seller itself and not to a server that speaks like it.
    is_first_hand: bool,
}

impl Responses {
    /// Speaks to the model of `spec`.
    pub fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
            is_first_hand: spec.url.is_none(),
        }
    }
}

impl Wire for Responses {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let mut body = json!({
            "model": self.name,
            "max_output_tokens": request.max_output_tokens,
            // Nothing of it is to be kept.
            "store": false,
        });
        let mut input = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            if self.is_first_hand && has_cache_marks(&self.name) {
                body["prompt_cache_options"] = json!({ "mode": "explicit" });
                input.push(json!({ "role": "developer", "content": [{
                    "type": "input_text",
                    "text": request.system,
                    "prompt_cache_breakpoint": { "mode": "explicit" },
                }] }));
            } else {
                body["instructions"] = json!(request.system);
            }
        }
        input.extend(
            request
                .messages
                .iter()
                .map(|message| json!({ "role": role_name(message.role), "content": message.text })),
        );
        body["input"] = Value::Array(input);
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(effort) = request.reasoning {
            body["reasoning"] = json!({ "effort": effort_name(effort) });
        }
        if let Some(schema) = &request.schema {
            body["text"] = json!({ "format": {
                "type": "json_schema", "name": schema.name, "strict": true, "schema": schema.schema,
            } });
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        if !body.get("output").is_some_and(Value::is_array) {
            return Reading::malformed("the reply holds no output");
        }
        let parts = || {
            list(body, "/output")
                .iter()
                .flat_map(|item| list(item, "/content"))
        };
        let content = parts()
            .filter(|part| text(part, "/type") == "output_text")
            .map(|part| text(part, "/text"))
            .collect();
        let items = list(body, "/output");
        let thoughts = items
            .iter()
            .filter(|item| text(item, "/type") == "reasoning");
        let thoughts = thoughts.flat_map(|item| {
            let parts = list(item, "/summary").iter().chain(list(item, "/content"));
            parts.map(|part| text(part, "/text"))
        });
        let n_thoughts = thoughts.clone().count();
        let instead = items
            .iter()
            .filter(|item| text(item, "/type").ends_with("_call"))
            .find_map(|item| {
                let name = text(item, "/name");
                tool_called(if name.is_empty() {
                    text(item, "/type")
                } else {
                    name
                })
            })
            .or_else(|| only_thoughts(thoughts))
            .or_else(|| {
                let has_thoughts = items.iter().any(|item| text(item, "/type") == "reasoning");
                (has_thoughts && n_thoughts == 0).then(|| {
                    "only reasoning came back, hidden by the provider, and no answer".to_owned()
                })
            });
        let error = body.get("error").filter(|error| error.is_object());
        let refusal = parts().find_map(|part| part.get("refusal")?.as_str());
        let failure = match (
            text(body, "/status"),
            text(body, "/incomplete_details/reason"),
        ) {
            ("failed", _) => Some(upstream(error.unwrap_or(&Value::Null))),
            ("incomplete", "content_filter") => Some(withheld("content_filter")),
            ("incomplete", _) => Some(cut()),
            _ => refusal.map(declined),
        };
        let tokens = body
            .get("usage")
            .filter(|usage| usage.is_object())
            .map(|usage| {
                let cached = count(usage, "/input_tokens_details/cached_tokens");
                let cache_write = count(usage, "/input_tokens_details/cache_write_tokens");
                TokenCount {
                    input: count(usage, "/input_tokens").saturating_sub(cached + cache_write),
                    cached,
                    cache_write,
                    output: count(usage, "/output_tokens"),
                    reasoning: count(usage, "/output_tokens_details/reasoning_tokens"),
                }
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

//! Ollama, by its own protocol.
//!
//! The context length is set per request: Ollama's default is far below our
//! prompts, and it cuts what does not fit without a word.
//!
//! Source: Ollama API documentation, "Generate a chat completion".

use super::{Reading, Wire, cut, effort_name, only_thoughts, role_name, text, tool_called};
use crate::completion::{Request, TokenCount};
use crate::model::ModelSpec;
use serde_json::{Value, json};

/// The format for one model.
pub(crate) struct Ollama {
    name: String,
}

impl Ollama {
    pub(crate) fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
        }
    }
}

impl Wire for Ollama {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            messages.push(json!({ "role": "system", "content": request.system }));
        }
        messages.extend(
            request
                .messages
                .iter()
                .map(|message| json!({ "role": role_name(message.role), "content": message.text })),
        );
        // Powers of two keep the server from loading the model anew for each prompt.
        let context = request.prompt_bytes() as u64 / 2 + u64::from(request.max_output_tokens);
        let mut body = json!({
            "model": self.name,
            "messages": messages,
            "stream": false,
            "options": {
                "num_predict": request.max_output_tokens,
                "num_ctx": context.next_power_of_two(),
            },
        });
        if let Some(temperature) = request.temperature {
            body["options"]["temperature"] = json!(temperature);
        }
        if let Some(effort) = request.reasoning {
            body["think"] = json!(effort_name(effort));
        }
        if let Some(schema) = &request.schema {
            body["format"] = schema.schema.clone();
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        let count = |name: &str| body.get(name).and_then(Value::as_u64);
        Reading {
            text: text(body, "/message/content").to_owned(),
            tokens: count("eval_count").map(|output| TokenCount {
                // Absent if the whole prompt was in the server's cache.
                input: count("prompt_eval_count").unwrap_or(0),
                output,
                ..TokenCount::default()
            }),
            cost: None,
            failure: (text(body, "/done_reason") == "length").then(cut),
            instead: tool_called(text(body, "/message/tool_calls/0/function/name"))
                .or_else(|| only_thoughts([text(body, "/message/thinking")])),
        }
    }
}

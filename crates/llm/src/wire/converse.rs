//! AWS Bedrock, Converse.
//!
//! Source: Amazon Bedrock API reference, Converse, OutputConfig and
//! CachePointBlock; user guide, "Structured outputs" and "Prompt caching".

use super::claude::thinking_fields;
use super::{
    Reading, Wire, count, cut, effort_name, list, only_thoughts, role_name, text, tool_called,
    withheld,
};
use crate::completion::{ReasoningEffort, Request, TokenCount};
use crate::model::ModelSpec;
use serde_json::{Value, json};

/// The format for one model.
pub(crate) struct Converse {
    name: String,
}

impl Converse {
    pub(crate) fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
        }
    }

    /// Returns whether the model takes cache points; others reject them.
    fn caches(&self) -> bool {
        ["anthropic.claude", "amazon.nova"]
            .iter()
            .any(|family| self.name.contains(family))
    }

    /// Converse has no word for reasoning; each family has its own.
    fn reasoning(&self, effort: ReasoningEffort, max_output_tokens: u32) -> Result<Value, String> {
        if self.name.contains("anthropic.claude") {
            return Ok(thinking_fields(&self.name, effort, max_output_tokens).into());
        }
        if self.name.contains("openai.gpt-oss") {
            return Ok(json!({ "reasoning_effort": effort_name(effort) }));
        }
        if self.name.contains("amazon.nova-2") {
            return Ok(json!({ "reasoningConfig": {
                "type": "enabled", "maxReasoningEffort": effort_name(effort),
            } }));
        }
        Err(format!(
            "how to set the reasoning effort of {} on Bedrock is not known; leave `reasoning` out",
            self.name
        ))
    }
}

impl Wire for Converse {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let mut body = json!({
            "messages": request.messages.iter().map(|message| json!({
                "role": role_name(message.role), "content": [{ "text": message.text }],
            })).collect::<Vec<_>>(),
            "inferenceConfig": { "maxTokens": request.max_output_tokens },
        });
        if !request.system.is_empty() {
            let mut system = vec![json!({ "text": request.system })];
            if self.caches() {
                system.push(json!({ "cachePoint": { "type": "default" } }));
            }
            body["system"] = Value::Array(system);
        }
        if let Some(effort) = request.reasoning {
            body["additionalModelRequestFields"] =
                self.reasoning(effort, request.max_output_tokens)?;
        }
        let thinks = body
            .pointer("/additionalModelRequestFields/thinking")
            .is_some();
        if let Some(temperature) = request.temperature.filter(|_| !thinks) {
            body["inferenceConfig"]["temperature"] = json!(temperature);
        }
        if let Some(schema) = &request.schema {
            body["outputConfig"] = json!({ "textFormat": {
                "type": "json_schema",
                "structure": { "jsonSchema": {
                    "name": schema.name,
                    // The schema goes out as text.
                    "schema": schema.schema.to_string(),
                } },
            } });
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        let content = body.pointer("/output/message/content");
        if !content.is_some_and(Value::is_array) {
            return Reading::malformed("the reply holds no message");
        }
        let content = list(body, "/output/message/content")
            .iter()
            .map(|block| text(block, "/text"))
            .collect();
        let blocks = list(body, "/output/message/content");
        let thoughts = blocks
            .iter()
            .map(|block| text(block, "/reasoningContent/reasoningText/text"));
        let instead = blocks
            .iter()
            .find_map(|block| tool_called(text(block, "/toolUse/name")))
            .or_else(|| only_thoughts(thoughts));
        let stop = text(body, "/stopReason");
        let failure = match stop {
            "max_tokens" | "model_context_window_exceeded" => Some(cut()),
            "guardrail_intervened" | "content_filtered" | "refusal" => Some(withheld(stop)),
            _ => None,
        };
        let tokens = body.get("usage").map(|usage| TokenCount {
            input: count(usage, "/inputTokens"),
            cached: count(usage, "/cacheReadInputTokens"),
            cache_write: count(usage, "/cacheWriteInputTokens"),
            output: count(usage, "/outputTokens"),
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

//! Gemini `generateContent`: Google AI Studio and Vertex.
//!
//! Source: Gemini API reference, "Generating content", and guides "Thinking"
//! and "Structured outputs".

use super::{
    Reading, Wire, count, cut, list, only_thoughts, text, thinking_budget, tool_called, withheld,
};
use crate::completion::{ReasoningEffort, Request, Role, TokenCount};
use crate::error::LlmErrorKind;
use crate::model::ModelSpec;
use serde_json::{Value, json};

/// The format for one model.
pub(crate) struct Gemini {
    name: String,
}

impl Gemini {
    pub(crate) fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
        }
    }

    /// Models before the third generation take a number of tokens.
    fn thinking(&self, effort: ReasoningEffort, max_output_tokens: u32) -> Value {
        let is_older = ["gemini-2", "gemini-1"]
            .iter()
            .any(|family| self.name.contains(family));
        if is_older {
            return json!({ "thinkingBudget": thinking_budget(effort, max_output_tokens) });
        }
        json!({ "thinkingLevel": match effort {
            ReasoningEffort::Low => "LOW",
            ReasoningEffort::Medium => "MEDIUM",
            ReasoningEffort::High => "HIGH",
        } })
    }
}

impl Wire for Gemini {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let contents: Vec<Value> = request
            .messages
            .iter()
            .map(|message| {
                let role = match message.role {
                    Role::User => "user",
                    Role::Assistant => "model",
                };
                json!({ "role": role, "parts": [{ "text": message.text }] })
            })
            .collect();
        let mut body = json!({
            "contents": contents,
            "generationConfig": { "maxOutputTokens": request.max_output_tokens },
        });
        if !request.system.is_empty() {
            body["systemInstruction"] = json!({ "parts": [{ "text": request.system }] });
        }
        let config = &mut body["generationConfig"];
        if let Some(temperature) = request.temperature {
            config["temperature"] = json!(temperature);
        }
        if let Some(effort) = request.reasoning {
            config["thinkingConfig"] = self.thinking(effort, request.max_output_tokens);
        }
        if let Some(schema) = &request.schema {
            config["responseMimeType"] = json!("application/json");
            config["responseJsonSchema"] = schema.schema.clone();
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        let blocked = text(body, "/promptFeedback/blockReason");
        let parts = list(body, "/candidates/0/content/parts");
        let content: String = parts
            .iter()
            .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
            .map(|part| text(part, "/text"))
            .collect();
        let thoughts = parts
            .iter()
            .filter(|part| part.get("thought").and_then(Value::as_bool) == Some(true))
            .map(|part| text(part, "/text"));
        let instead = parts
            .iter()
            .find_map(|part| tool_called(text(part, "/functionCall/name")))
            .or_else(|| only_thoughts(thoughts));
        let finish = text(body, "/candidates/0/finishReason");
        let failure = match finish {
            _ if !blocked.is_empty() => {
                let text = format!("the prompt was blocked ({blocked})");
                Some((LlmErrorKind::Refused, text))
            }
            "MAX_TOKENS" => Some(cut()),
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
                Some(withheld(finish))
            }
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => Some((
                LlmErrorKind::NoAnswer,
                format!("the model called a tool instead of answering ({finish})"),
            )),
            _ if list(body, "/candidates").is_empty() => {
                return Reading::malformed("the reply holds no candidates");
            }
            _ => None,
        };
        let tokens = body.get("usageMetadata").map(|usage| {
            let cached = count(usage, "/cachedContentTokenCount");
            let reasoning = count(usage, "/thoughtsTokenCount");
            TokenCount {
                input: count(usage, "/promptTokenCount").saturating_sub(cached),
                cached,
                cache_write: 0,
                output: count(usage, "/candidatesTokenCount") + reasoning,
                reasoning,
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

//! Chat Completions: OpenAI, Together, OpenRouter, vLLM, llama.cpp and others.
//!
//! Source: OpenAI API reference, "Create chat completion", and guide "Prompt
//! caching"; OpenRouter API reference, "Chat" and "Prompt caching".

use super::{
    Reading, Wire, count, cut, declined, effort_name, only_thoughts, role_name, text, tool_called,
    upstream, version_after, withheld,
};
use crate::completion::{Request, TokenCount};
use crate::model::{ModelSpec, Provider};
use autocomp_core::UsdMicros;
use serde_json::{Value, json};

/// The format for one model.
pub struct Chat {
    name: String,
    provider: Provider,
    /// Talks to the seller itself and not to a server that speaks like it.
    is_first_hand: bool,
}

impl Chat {
    /// Speaks to the model of `spec`.
    pub fn new(spec: &ModelSpec) -> Self {
        Self {
            name: spec.name.clone(),
            provider: spec.provider,
            is_first_hand: spec.url.is_none(),
        }
    }

    /// Returns the name of the field that limits the output: the older one is
    /// known to every server, but refused by OpenAI's reasoning models.
    fn limit_name(&self) -> &'static str {
        let is_older = self.name.starts_with("gpt-3") || self.name.starts_with("gpt-4");
        let is_known = ["gpt-", "o1", "o3", "o4"]
            .iter()
            .any(|family| self.name.starts_with(family));
        let is_newer =
            self.provider == Provider::OpenAi && !is_older && (is_known || self.is_first_hand);
        if is_newer {
            "max_completion_tokens"
        } else {
            "max_tokens"
        }
    }
}

/// Returns whether OpenAI caches what a request marks, and bills it for writing:
/// from GPT-5.6 on. The end of the stable prefix is marked then, and nothing else.
pub fn has_cache_marks(name: &str) -> bool {
    version_after(name, "gpt-").is_some_and(|version| (5, 6) <= version)
}

impl Wire for Chat {
    fn body(&self, request: &Request) -> Result<Value, String> {
        let mut body = json!({ "model": self.name });
        let mut messages = Vec::with_capacity(request.messages.len() + 1);
        if !request.system.is_empty() {
            let is_openai = self.provider == Provider::OpenAi && self.is_first_hand;
            let is_routed_claude =
                self.provider == Provider::OpenRouter && self.name.starts_with("anthropic/");
            let mut part = json!({ "type": "text", "text": request.system });
            let content = if is_openai && has_cache_marks(&self.name) {
                part["prompt_cache_breakpoint"] = json!({ "mode": "explicit" });
                body["prompt_cache_options"] = json!({ "mode": "explicit" });
                json!([part])
            } else if is_routed_claude {
                part["cache_control"] = json!({ "type": "ephemeral" });
                json!([part])
            } else {
                json!(request.system)
            };
            messages.push(json!({ "role": "system", "content": content }));
        }
        messages.extend(
            request
                .messages
                .iter()
                .map(|message| json!({ "role": role_name(message.role), "content": message.text })),
        );
        body["messages"] = Value::Array(messages);
        body[self.limit_name()] = json!(request.max_output_tokens);
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        let is_openrouter = self.provider == Provider::OpenRouter;
        if let Some(effort) = request.reasoning {
            let effort = effort_name(effort);
            if is_openrouter {
                body["reasoning"] = json!({ "effort": effort });
            } else {
                body["reasoning_effort"] = json!(effort);
            }
        }
        if let Some(schema) = &request.schema {
            body["response_format"] = json!({ "type": "json_schema", "json_schema": {
                "name": schema.name, "strict": true, "schema": schema.schema,
            } });
            if is_openrouter {
                // Without it, the request may go to a provider that ignores the schema.
                body["provider"] = json!({ "require_parameters": true });
            }
        }
        if is_openrouter {
            // Asks for the price of the call.
            body["usage"] = json!({ "include": true });
        }
        Ok(body)
    }

    fn read(&self, body: &Value) -> Reading {
        if !body.get("choices").is_some_and(Value::is_array) {
            return Reading::malformed("the reply holds no choices");
        }
        let content = body.pointer("/choices/0/message/content");
        let content = match content {
            Some(Value::Array(parts)) => parts.iter().map(|part| text(part, "/text")).collect(),
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        let refusal = text(body, "/choices/0/message/refusal");
        let thoughts = ["reasoning_content", "reasoning", "thinking"]
            .map(|name| text(&body["choices"][0]["message"], &format!("/{name}")));
        let called = [
            "/choices/0/message/tool_calls/0/function/name",
            "/choices/0/message/function_call/name",
        ];
        let instead = called
            .into_iter()
            .find_map(|pointer| tool_called(text(body, pointer)))
            .or_else(|| only_thoughts(thoughts.into_iter().find(|it| !it.trim().is_empty())));
        let error = ["/choices/0/error", "/choices/0/message/error"]
            .into_iter()
            .filter_map(|pointer| body.pointer(pointer))
            .find(|error| error.is_object() || error.is_string());
        let failure = match text(body, "/choices/0/finish_reason") {
            _ if error.is_some() => error.map(upstream),
            "error" => Some(upstream(
                &json!({ "message": "the server behind ended the reply with an error" }),
            )),
            "length" => Some(cut()),
            "content_filter" => Some(withheld("content_filter")),
            _ if !refusal.is_empty() => Some(declined(refusal)),
            _ => None,
        };
        let usage = body.get("usage").filter(|usage| usage.is_object());
        let tokens = usage.map(|usage| {
            let cached = count(usage, "/prompt_tokens_details/cached_tokens");
            let cache_write = count(usage, "/prompt_tokens_details/cache_write_tokens");
            let reasoning = count(usage, "/completion_tokens_details/reasoning_tokens");
            TokenCount {
                input: count(usage, "/prompt_tokens").saturating_sub(cached + cache_write),
                cached,
                cache_write,
                output: count(usage, "/completion_tokens").max(reasoning),
                reasoning,
            }
        });
        let cost = (self.provider == Provider::OpenRouter)
            .then(|| usage?.get("cost")?.as_f64())
            .flatten()
            .filter(|dollars| (0.0..1e6).contains(dollars))
            .map(|dollars| UsdMicros((dollars * 1e6).ceil() as u64));
        Reading {
            text: content,
            tokens: tokens.filter(|tokens| *tokens != TokenCount::default()),
            cost,
            failure,
            instead,
        }
    }
}

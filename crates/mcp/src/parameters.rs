//! What is wrong with the parameters of a request. The protocol's library takes a method whose
//! parameters do not fit for one that it does not know.

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, GetTaskParams, InitializeRequestParams,
    PaginatedRequestParams, ReadResourceRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns what is wrong with the parameters of a method that this server has; none if nothing is,
/// or if it has no such method.
pub fn misfit(method: &str, parameters: Option<&Value>) -> Option<String> {
    let check = match method {
        "initialize" => flaw::<InitializeRequestParams>,
        "tools/call" => flaw::<CallToolRequestParams>,
        "tools/list" | "resources/list" => flaw::<PaginatedRequestParams>,
        "resources/read" => flaw::<ReadResourceRequestParams>,
        "tasks/get" => flaw::<GetTaskParams>,
        "tasks/cancel" => flaw::<CancelTaskParams>,
        _ => return None,
    };
    let parameters = parameters.filter(|it| !it.is_null()).cloned();
    let flaw = check(parameters.unwrap_or_else(|| json!({})))?;
    // The one that models get wrong.
    let hint = match method {
        "tools/call" => "; `name` is a text and `arguments` an object",
        _ => "",
    };
    Some(format!(
        "the parameters of `{method}` do not fit: {flaw}{hint}"
    ))
}

fn flaw<T: DeserializeOwned>(parameters: Value) -> Option<String> {
    serde_json::from_value::<T>(parameters)
        .err()
        .map(|it| it.to_string())
}

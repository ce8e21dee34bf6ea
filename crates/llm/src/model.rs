//! Model strings: `provider::model` and `provider@url::model`.

use std::fmt;
use std::str::FromStr;

/// A kind of provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, Chat Completions.
    OpenAi,
    /// OpenAI, Responses.
    OpenAiResponses,
    /// Anthropic, Messages.
    Anthropic,
    /// Google AI Studio.
    Gemini,
    /// Google Vertex AI.
    Vertex,
    /// AWS Bedrock, Converse.
    Bedrock,
    /// Together AI.
    Together,
    /// OpenRouter.
    OpenRouter,
    /// Ollama.
    Ollama,
    /// A vLLM server.
    Vllm,
    /// A llama.cpp server.
    LlamaCpp,
    /// Any other server that speaks Chat Completions.
    Compatible,
    /// A program: prompt on standard input, reply on standard output.
    Command,
    /// A folder: request files in, answer files out.
    Mailbox,
}

/// How a provider caches the stable prefix of prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Caching {
    /// By itself.
    Automatic,
    /// Where the request marks the end of the prefix, which ours do.
    OnRequest,
    /// Not, or not in a way that is known.
    Unknown,
}

/// What is known about a provider.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct ProviderInfo {
    /// The provider.
    pub provider: Provider,
    /// Its name in model strings.
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    /// The environment variable that holds its key; absent if it takes none.
    pub key_variable: Option<&'static str>,
    /// Other environment variables that hold secrets and can stand in for the key.
    pub other_secrets: &'static [&'static str],
    /// Other environment variables it reads, none of them secret.
    pub setting_variables: &'static [&'static str],
    /// Its base address; absent if the model string must give one or needs none.
    pub default_url: Option<&'static str>,
    /// How it caches prompts.
    pub caching: Caching,
    /// Whether it enforces JSON schemas of replies.
    pub structured_output: bool,
    /// Runs on the user's own machines, so that its price is zero.
    pub self_hosted: bool,
    /// One line for `models list`.
    pub description: &'static str,
}

/// Every provider, in the order of `models list`.
pub const PROVIDERS: &[ProviderInfo] = &[
    ProviderInfo {
        provider: Provider::OpenAi,
        name: "openai",
        aliases: &[],
        key_variable: Some("OPENAI_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://api.openai.com/v1/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: false,
        description: "OpenAI, Chat Completions",
    },
    ProviderInfo {
        provider: Provider::OpenAiResponses,
        name: "openai-responses",
        aliases: &["openai_resp", "openai-resp"],
        key_variable: Some("OPENAI_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://api.openai.com/v1/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: false,
        description: "OpenAI, Responses",
    },
    ProviderInfo {
        provider: Provider::Anthropic,
        name: "anthropic",
        aliases: &[],
        key_variable: Some("ANTHROPIC_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://api.anthropic.com/v1/"),
        caching: Caching::OnRequest,
        structured_output: true,
        self_hosted: false,
        description: "Anthropic, Messages",
    },
    ProviderInfo {
        provider: Provider::Gemini,
        name: "gemini",
        aliases: &["google"],
        key_variable: Some("GEMINI_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://generativelanguage.googleapis.com/v1beta/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: false,
        description: "Google AI Studio",
    },
    ProviderInfo {
        provider: Provider::Vertex,
        name: "vertex",
        aliases: &[],
        key_variable: Some("VERTEX_API_KEY"),
        other_secrets: &[],
        setting_variables: &[
            "VERTEX_PROJECT_ID",
            "VERTEX_LOCATION",
            "VERTEX_TOKEN_COMMAND",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
        default_url: None,
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: false,
        description: "Google Vertex AI; an access token, a program that prints one, or a credentials file",
    },
    ProviderInfo {
        provider: Provider::Bedrock,
        name: "bedrock",
        aliases: &[],
        key_variable: Some("AWS_BEARER_TOKEN_BEDROCK"),
        other_secrets: &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
        ],
        setting_variables: &["AWS_REGION"],
        default_url: None,
        caching: Caching::OnRequest,
        structured_output: true,
        self_hosted: false,
        description: "AWS Bedrock, Converse; a Bedrock API key, or an access key",
    },
    ProviderInfo {
        provider: Provider::Together,
        name: "together",
        aliases: &[],
        key_variable: Some("TOGETHER_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://api.together.xyz/v1/"),
        caching: Caching::Unknown,
        structured_output: true,
        self_hosted: false,
        description: "Together AI",
    },
    ProviderInfo {
        provider: Provider::OpenRouter,
        name: "openrouter",
        aliases: &["open_router"],
        key_variable: Some("OPENROUTER_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("https://openrouter.ai/api/v1/"),
        caching: Caching::Unknown,
        structured_output: true,
        self_hosted: false,
        description: "OpenRouter",
    },
    ProviderInfo {
        provider: Provider::Ollama,
        name: "ollama",
        aliases: &[],
        key_variable: None,
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("http://localhost:11434/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: true,
        description: "Ollama on this machine or at a given address",
    },
    ProviderInfo {
        provider: Provider::Vllm,
        name: "vllm",
        aliases: &[],
        key_variable: Some("VLLM_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("http://localhost:8000/v1/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: true,
        description: "a vLLM server",
    },
    ProviderInfo {
        provider: Provider::LlamaCpp,
        name: "llamacpp",
        aliases: &["llama.cpp", "llama_cpp"],
        key_variable: Some("LLAMACPP_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: Some("http://localhost:8080/v1/"),
        caching: Caching::Automatic,
        structured_output: true,
        self_hosted: true,
        description: "a llama.cpp server",
    },
    ProviderInfo {
        provider: Provider::Compatible,
        name: "compatible",
        aliases: &["openai-compatible"],
        key_variable: Some("OPENAI_COMPATIBLE_API_KEY"),
        other_secrets: &[],
        setting_variables: &[],
        default_url: None,
        caching: Caching::Unknown,
        structured_output: true,
        self_hosted: false,
        description: "any server that speaks Chat Completions: compatible@https://host/v1::model",
    },
    ProviderInfo {
        provider: Provider::Command,
        name: "command",
        aliases: &[],
        key_variable: None,
        other_secrets: &[],
        setting_variables: &[],
        default_url: None,
        caching: Caching::Unknown,
        structured_output: false,
        self_hosted: true,
        description: "a program: prompt on standard input, reply on standard output",
    },
    ProviderInfo {
        provider: Provider::Mailbox,
        name: "mailbox",
        aliases: &[],
        key_variable: None,
        other_secrets: &[],
        setting_variables: &[],
        default_url: None,
        caching: Caching::Unknown,
        structured_output: false,
        self_hosted: true,
        description: "a folder: one request file per question, one answer file per reply",
    },
];

impl ProviderInfo {
    /// Returns every environment variable that holds a secret of the provider.
    pub fn secret_variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.key_variable
            .into_iter()
            .chain(self.other_secrets.iter().copied())
    }
}

impl Provider {
    /// Returns what is known about the provider.
    ///
    /// # Panics
    /// Never: every provider stands in [`PROVIDERS`], which a test asserts.
    #[must_use]
    pub fn info(self) -> &'static ProviderInfo {
        PROVIDERS
            .iter()
            .find(|info| info.provider == self)
            .expect("every provider stands in the registry")
    }
}

/// A parsed model string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelSpec {
    /// The provider.
    pub provider: Provider,
    /// The base address, if given; ends with a slash.
    pub url: Option<String>,
    /// The provider's own name of the model, the command line, or the folder.
    pub name: String,
}

impl ModelSpec {
    /// Returns whether asking the model starts a program, writes files, or sends a key to an
    /// address of the model string's own.
    #[must_use]
    pub fn leads_outside(&self) -> bool {
        self.url.is_some() || matches!(self.provider, Provider::Command | Provider::Mailbox)
    }
}

/// The text is not a model string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a model string: {reason}")]
pub struct ParseModelError {
    /// What was given.
    pub text: String,
    /// What is wrong and what would be right.
    pub reason: String,
}

impl FromStr for ModelSpec {
    type Err = ParseModelError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |reason: String| ParseModelError {
            text: text.to_owned(),
            reason,
        };
        let (head, name) = split_head(text).ok_or_else(|| {
            error(
                "write provider::model or provider@url::model, such as openai::gpt-5.4".to_owned(),
            )
        })?;
        let (provider_name, url) = match head.split_once('@') {
            Some((provider, url)) => (provider, Some(url)),
            None => (head, None),
        };
        let info = PROVIDERS
            .iter()
            .find(|info| info.name == provider_name || info.aliases.contains(&provider_name))
            .ok_or_else(|| {
                let known: Vec<_> = PROVIDERS.iter().map(|info| info.name).collect();
                error(format!(
                    "unknown provider {provider_name:?}; known are {}",
                    known.join(", ")
                ))
            })?;
        if name.trim().is_empty() {
            return Err(error("the model name after :: is empty".to_owned()));
        }
        let local = matches!(info.provider, Provider::Command | Provider::Mailbox);
        if local && url.is_some() {
            return Err(error(format!("{} takes no address", info.name)));
        }
        if !local && (name.contains("::") || name.chars().any(char::is_whitespace)) {
            return Err(error("a model name holds no :: and no spaces".to_owned()));
        }
        if info.provider == Provider::Compatible && url.is_none() {
            return Err(error(
                "give the address: compatible@https://host/v1::model".to_owned(),
            ));
        }
        let url = url.map(|url| check_url(url).map_err(&error)).transpose()?;
        Ok(Self {
            provider: info.provider,
            url,
            name: name.to_owned(),
        })
    }
}

/// Splits at the first `::` that is not inside the brackets of an IPv6 address.
fn split_head(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (idx, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && text[idx..].starts_with("::") => {
                return Some((&text[..idx], &text[idx + 2..]));
            }
            _ => {}
        }
    }
    None
}

fn check_url(url: &str) -> Result<String, String> {
    let parsed = reqwest::Url::parse(url)
        .map_err(|error| format!("the address {url:?} cannot be read: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(format!(
            "the address {url:?} is neither http://… nor https://…"
        ));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("the address holds a password; put the key into the environment".to_owned());
    }
    let secret = |name: &str| {
        ["key", "token", "sig", "secret"]
            .iter()
            .any(|word| name.to_ascii_lowercase().contains(word))
    };
    if parsed.query_pairs().any(|(name, _)| secret(&name)) {
        return Err("the address holds a key; put the key into the environment".to_owned());
    }
    let mut url = url.to_owned();
    // Base addresses are joined with relative paths, which needs the slash.
    if parsed.query().is_none() && !url.ends_with('/') {
        url.push('/');
    }
    Ok(url)
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.provider.info().name)?;
        if let Some(url) = &self.url {
            write!(f, "@{}", url.trim_end_matches('/'))?;
        }
        write!(f, "::{}", self.name)
    }
}

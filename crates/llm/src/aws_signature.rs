//! Signatures of requests to AWS with an access key (Signature Version 4).
//!
//! Source: AWS, "Create a signed AWS API request"; the test is one of AWS's
//! published test suite.

use ring::{digest, hmac};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// An access key.
#[derive(Clone)]
pub struct AccessKey {
    /// Its name, which is no secret.
    pub id: String,
    /// What signs.
    pub secret: String,
    /// Of temporary keys only.
    pub session_token: Option<String>,
}

/// What is signed with which key.
pub struct Signing<'request> {
    /// The key.
    pub key: &'request AccessKey,
    /// The region, as in `us-east-1`.
    pub region: &'request str,
    /// The service, as in `bedrock`.
    pub service: &'request str,
    /// The method, in capitals.
    pub method: &'request str,
    /// The host as in the request's header, with its port if it is not the usual one.
    pub host: &'request str,
    /// The path as sent, with its percent signs.
    pub path: &'request str,
    /// What is sent.
    pub body: &'request [u8],
}

impl Signing<'_> {
    /// Returns the headers to add for a request sent at `now`.
    pub fn headers(&self, now: SystemTime) -> Vec<(&'static str, String)> {
        let time = basic_time(now);
        let mut headers = vec![("x-amz-date", time.clone())];
        if let Some(token) = &self.key.session_token {
            headers.push(("x-amz-security-token", token.clone()));
        }
        let mut signed: Vec<(&str, &str)> = vec![("host", self.host)];
        signed.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String = signed
            .iter()
            .map(|(name, value)| format!("{name}:{value}\n"))
            .collect();
        // Every service but S3 wants the encoded path encoded once more.
        let path: String = self
            .path
            .split('/')
            .map(encode_segment)
            .collect::<Vec<_>>()
            .join("/");
        let canonical = format!(
            "{}\n{path}\n\n{lines}\n{names}\n{}",
            self.method,
            hex(digest::digest(&digest::SHA256, self.body).as_ref())
        );
        let day = &time[..8];
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let to_sign = format!(
            "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
            hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref())
        );
        let mut key = format!("AWS4{}", self.key.secret).into_bytes();
        for part in [day, self.region, self.service, "aws4_request", &to_sign] {
            let step = hmac::Key::new(hmac::HMAC_SHA256, &key);
            key = hmac::sign(&step, part.as_bytes()).as_ref().to_vec();
        }
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.key.id,
            hex(&key)
        );
        headers.push(("authorization", authorization));
        headers
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Encodes a path segment; model identifiers hold colons, ARNs slashes.
pub fn encode_segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns a time as `YYYYMMDDTHHMMSSZ`.
pub fn basic_time(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!(
        "{year:04}{month:02}{:02}T{:02}{:02}{:02}Z",
        days + 1,
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

//! What errors mean.

use autocomp_llm::LlmErrorKind;
use autocomp_llm::inside::{kind_of_status, message_of_body, retry_after};
use std::time::{Duration, SystemTime};

#[test]
fn statuses_and_bodies_map_to_kinds() {
    let cases = [
        (
            400,
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            LlmErrorKind::ContextTooLong,
        ),
        (
            400,
            r#"{"error":{"message":"Your credit balance is too low"}}"#,
            LlmErrorKind::Quota,
        ),
        (
            400,
            r#"{"error":{"message":"unsupported parameter"}}"#,
            LlmErrorKind::InvalidRequest,
        ),
        (401, "", LlmErrorKind::Auth),
        (402, "", LlmErrorKind::Quota),
        (429, "", LlmErrorKind::RateLimit),
        (
            429,
            r#"{"error":{"code":"insufficient_quota"}}"#,
            LlmErrorKind::Quota,
        ),
        (500, "", LlmErrorKind::Overload),
        (529, "", LlmErrorKind::Overload),
    ];
    for (status, body, kind) in cases {
        assert_eq!(kind_of_status(status, body), kind, "{status} {body}");
    }
}

#[test]
fn waits_are_read_from_headers_and_bodies() {
    // Of the date below, 90 s before it.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 - 90);
    let retry_after =
        |header: &dyn Fn(&str) -> Option<&'static str>, body: &str| retry_after(header, body, now);
    let header = |name: &'static str, value: &'static str| {
        move |asked: &str| (asked == name).then_some(value)
    };
    assert_eq!(
        retry_after(&header("retry-after", "7"), ""),
        Some(Duration::from_secs(7))
    );
    assert_eq!(
        retry_after(&header("retry-after-ms", "250"), ""),
        Some(Duration::from_millis(250))
    );
    assert_eq!(retry_after(&header("retry-after", "-3"), ""), None);
    assert_eq!(retry_after(&header("retry-after", "NaN"), ""), None);
    let date = |text| retry_after(&header("retry-after", text), "");
    assert_eq!(
        date("Sun, 06 Nov 1994 08:49:37 GMT"),
        Some(Duration::from_secs(90))
    );
    assert_eq!(date("Tue, 06 Nov 1984 08:49:37 GMT"), Some(Duration::ZERO));
    assert_eq!(date("Sat, 06 Nov 2094 08:49:37 GMT"), None);
    assert_eq!(date("tomorrow"), None);
    let body = r#"{"error":{"details":[{"retryDelay": "34s"}]}}"#;
    assert_eq!(retry_after(&|_| None, body), Some(Duration::from_secs(34)));
}

#[test]
fn messages_are_short_and_readable() {
    assert_eq!(
        message_of_body(500, r#"{"error":{"message":"oops"}}"#),
        "HTTP status 500: oops"
    );
    assert_eq!(message_of_body(500, ""), "HTTP status 500");
    assert!(message_of_body(500, &"é".repeat(10_000)).chars().count() < 600);
}

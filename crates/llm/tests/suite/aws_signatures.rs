//! Signatures of Amazon.

use autocomp_llm::inside::{AccessKey, Signing, basic_time};
use std::time::{Duration, SystemTime};

fn signature(method: &str, session_token: Option<&str>) -> String {
    let key = AccessKey {
        id: "AKIDEXAMPLE".to_owned(),
        secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
        session_token: session_token.map(str::to_owned),
    };
    let signing = Signing {
        key: &key,
        region: "us-east-1",
        service: "service",
        method,
        host: "example.amazonaws.com",
        path: "/",
        body: b"",
    };
    // 2015-08-30, 12:36:00 UTC.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_440_938_160);
    let headers = signing.headers(now);
    assert_eq!(headers[0], ("x-amz-date", "20150830T123600Z".to_owned()));
    let (_, authorization) = headers.last().expect("a signature");
    assert!(
        authorization.starts_with(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        ),
        "{authorization}"
    );
    authorization
        .split("Signature=")
        .nth(1)
        .expect("a signature")
        .to_owned()
}

/// The cases `get-vanilla` and `post-vanilla` of AWS's test suite.
#[test]
fn signatures_are_those_of_the_published_suite() {
    assert_eq!(
        signature("GET", None),
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    );
    assert_eq!(
        signature("POST", None),
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    );
    assert_ne!(signature("POST", Some("token")), signature("POST", None));
}

#[test]
fn times_know_leap_years() {
    for (seconds, text) in [
        (0, "19700101T000000Z"),
        (951_782_400, "20000229T000000Z"),
        (1_709_251_199, "20240229T235959Z"),
        (1_795_219_200, "20261121T000000Z"),
    ] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(basic_time(time), text);
    }
}

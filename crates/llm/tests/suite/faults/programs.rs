//! Programs that fail, hang, flood, or look for keys in their environment.

use super::{request, spec};
use autocomp_llm::{
    Availability, Budget, CommandClient, ConnectSettings, Connector, LlmClient, LlmErrorKind,
    Secrets, Timed, Variables,
};
use std::sync::Arc;
use std::time::Duration;

/// A program that always fails is asked once per request, and given up after three.
#[tokio::test]
async fn a_program_that_never_works_is_given_up_at_once() {
    let connector = Connector::new(
        ConnectSettings::standard(),
        Arc::new(Secrets::default()),
        Budget::unlimited(),
    );
    let set = connector
        .connect(&["command::sh -c 'echo no licence >&2; exit 3'"])
        .expect("connect");
    let member = &set.members()[0];
    for _ in 0..3 {
        let error = member.complete(&request()).await.expect_err("fails");
        assert_eq!(
            (error.kind, error.attempts.len()),
            (LlmErrorKind::ProgramFailed, 1)
        );
    }
    let Availability::Lost { reason } = member.breaker().admit() else {
        panic!("it is still asked");
    };
    assert!(reason.contains("no licence"), "{reason}");
    assert!(set.next_probe().is_none());
    let notices = connector.take_notices().join("\n");
    assert!(
        notices.contains("is set aside (it never answered"),
        "{notices}"
    );
}

/// Returns the variables of this process, as the program hands them over.
fn environment() -> Variables {
    let named = |(name, value): (std::ffi::OsString, _)| Some((name.into_string().ok()?, value));
    Variables::new(std::env::vars_os().filter_map(named))
}

async fn run_command(command: &str, limit: Duration) -> Result<String, (LlmErrorKind, String)> {
    let client =
        CommandClient::new(&spec(&format!("command::{command}")), &environment()).expect(command);
    match Timed::new(client, limit).complete(&request()).await {
        Ok(completion) => Ok(completion.text),
        Err(error) => Err((error.kind, error.message)),
    }
}

#[tokio::test]
async fn programs_answer_fail_hang_and_flood() {
    let long = Duration::from_secs(3600);
    assert_eq!(
        run_command("cat", long).await,
        Ok("You write plans.\n\nWrite one.".to_owned())
    );
    assert_eq!(
        run_command("sh -c 'echo early'", long).await,
        Ok("early\n".to_owned())
    );
    let kind = |result: Result<String, (LlmErrorKind, String)>| result.expect_err("fails").0;
    let (failed, message) = run_command("sh -c 'echo no credit >&2; exit 3'", long)
        .await
        .expect_err("fails");
    assert_eq!(failed, LlmErrorKind::ProgramFailed);
    assert!(
        message.contains("no credit") && message.contains('3'),
        "{message}"
    );
    assert_eq!(kind(run_command("true", long).await), LlmErrorKind::Empty);
    assert_eq!(
        kind(run_command("no-such-program-here", long).await),
        LlmErrorKind::Unavailable
    );
    assert_eq!(
        kind(run_command("sh -c 'yes | head -c 6000000'", long).await),
        LlmErrorKind::Oversized
    );
    assert_eq!(
        kind(run_command("sh -c 'exit 75'", long).await),
        LlmErrorKind::Overload
    );
    let hanging = run_command("sh -c 'sleep 600 & sleep 600'", Duration::from_millis(300)).await;
    assert_eq!(kind(hanging), LlmErrorKind::Timeout);
    // A program left behind does not hold up the reply.
    let left = run_command("sh -c 'sleep 600 & echo fine'", long).await;
    assert_eq!(left, Ok("fine\n".to_owned()));
    // Megabytes on standard error do not block it.
    let talkative = run_command("sh -c 'yes | head -c 3000000 >&2; echo fine'", long).await;
    assert_eq!(talkative, Ok("fine\n".to_owned()));
}

#[tokio::test]
async fn programs_see_no_environment_but_what_is_named() {
    // CARGO_MANIFEST_DIR stands for a key: it is set in this process and not on the list.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let long = Duration::from_secs(3600);
    let seen = run_command("env", long).await.expect("runs");
    assert!(!seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    let seen = run_command("env:CARGO_MANIFEST_DIR env", long)
        .await
        .expect("runs");
    assert!(seen.contains("CARGO_MANIFEST_DIR"), "{seen}");
    let refused = CommandClient::new(&spec("command::env:OPENAI_API_KEY env"), &environment());
    assert_eq!(
        refused.err().map(|error| error.kind),
        Some(LlmErrorKind::InvalidRequest)
    );
}

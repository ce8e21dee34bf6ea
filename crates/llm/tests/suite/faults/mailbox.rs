//! A folder as a model, answered late, out of order, or after a restart.

use super::spec;
use autocomp_llm::{LlmClient, LlmErrorKind, MailboxClient, Request};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn files(folder: &Path, end: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.ends_with(end))
        .collect();
    names.sort();
    names
}

async fn wait_for(folder: &Path, end: &str, count: usize) -> Vec<String> {
    loop {
        let names = files(folder, end);
        if names.len() == count {
            return names;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_mailbox_is_answered_in_any_order_and_survives_a_restart() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().to_path_buf();
    let spec = spec(&format!("mailbox::{}", path.display()));
    let ask = |client: &Arc<MailboxClient>, question: &str| {
        let (client, request) = (Arc::clone(client), Request::new("", question, 100));
        tokio::spawn(async move { client.complete(&request).await })
    };
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    let first = ask(&client, "first");
    wait_for(&path, ".request.md", 1).await;
    let second = ask(&client, "second");
    let third = ask(&client, "third");
    let names = wait_for(&path, ".request.md", 3).await;
    // Two are answered, the later ones first; then everything is killed.
    let answer = |question: &str, text: &str| {
        let name = names
            .iter()
            .find(|name| std::fs::read_to_string(path.join(name)).expect("request") == question)
            .expect("asked");
        let answer = path.join(name.replace(".request.", ".answer."));
        std::fs::write(answer.with_extension("part"), text).expect("write");
        std::fs::rename(answer.with_extension("part"), answer).expect("rename");
    };
    answer("third", "three");
    assert_eq!(
        third.await.expect("joined").expect("answered").text,
        "three"
    );
    first.abort();
    second.abort();
    assert!(first.await.is_err() && second.await.is_err());
    drop(client);
    answer("second", "two");
    answer("first", "ERROR: no idea");
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    assert_eq!(
        ask(&client, "second")
            .await
            .expect("joined")
            .expect("answered")
            .text,
        "two"
    );
    let refused = ask(&client, "first")
        .await
        .expect("joined")
        .expect_err("refused");
    assert_eq!(refused.kind, LlmErrorKind::Refused);
    assert!(refused.message.contains("no idea"));
    // A refusal is no answer to whoever asks the same later.
    assert_eq!(files(&path, ".declined.md").len(), 1);
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    let again = ask(&client, "first");
    let names = wait_for(&path, ".request.md", 1).await;
    std::fs::write(path.join(names[0].replace(".request.", ".answer.")), "one").expect("write");
    assert_eq!(again.await.expect("joined").expect("answered").text, "one");
}

#[tokio::test]
async fn equal_questions_get_answers_of_their_own() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().to_path_buf();
    let spec = spec(&format!("mailbox::{}", path.display()));
    let client = Arc::new(MailboxClient::new(&spec).expect("mailbox"));
    let calls: Vec<_> = (0..2)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.complete(&Request::new("", "same", 100)).await })
        })
        .collect();
    let names = wait_for(&path, ".request.md", 2).await;
    for (idx, name) in names.iter().enumerate() {
        let answer = path.join(name.replace(".request.", ".answer."));
        std::fs::write(answer, format!("answer {idx}")).expect("write");
    }
    let mut texts = Vec::new();
    for call in calls {
        texts.push(call.await.expect("joined").expect("answered").text);
    }
    texts.sort();
    assert_eq!(texts, ["answer 0", "answer 1"]);
    assert_eq!(files(&path, ".done.md").len(), 2);
}

//! Keys of requests.

use autocomp_llm::{Message, Request, Role};

#[test]
fn the_transcript_names_speakers_after_the_first_turn() {
    let mut request = Request::new("prefix\n", "question", 10);
    assert_eq!(request.transcript(), "prefix\n\nquestion");
    request.messages.push(Message {
        role: Role::Assistant,
        text: "what?".to_owned(),
    });
    request.messages.push(Message {
        role: Role::User,
        text: "again".to_owned(),
    });
    assert_eq!(
        request.transcript(),
        "prefix\n\nquestion\n\n=== ASSISTANT ===\nwhat?\n\n=== USER ===\nagain"
    );
}

//! Texts that a family has as data.

use autocomp_eval::{BuiltIn, Sentences};

static SENTENCES: BuiltIn<Sentences> = BuiltIn::new(
    r#"
idle = "It waits for {cycles} cycles of {all}."
then = "Then it ends."
"#,
);

#[test]
fn figures_stand_where_their_names_stood() {
    let text = SENTENCES.filled("idle", &[("cycles", &12), ("all", &"20")]);
    assert_eq!(text, "It waits for 12 cycles of 20.");
    // What a kernel says may look like a name, and a name may have no value.
    let text = SENTENCES.filled("idle", &[("cycles", &"{all} {"), ("other", &"20")]);
    assert_eq!(text, "It waits for {all} { cycles of {all}.");
}

#[test]
fn sentences_of_a_paragraph_follow_each_other() {
    let mut told = SENTENCES.paragraph();
    told.add("");
    told.say("then", &[]);
    told.say("no such sentence", &[]);
    told.say("idle", &[("cycles", &1), ("all", &2)]);
    assert_eq!(told.text(), "Then it ends. It waits for 1 cycles of 2.");
}

#[test]
fn what_has_no_text_has_an_empty_one() {
    assert_eq!(SENTENCES.of("nothing"), "");
    assert_eq!(SENTENCES.get("nothing"), None);
    assert_eq!(SENTENCES.names().collect::<Vec<_>>(), ["idle", "then"]);
}

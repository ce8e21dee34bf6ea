//! Words of a command line.

use autocomp_llm::inside::split_words;

#[test]
fn words_split_like_a_shell_without_expansion() {
    let words = |text: &str| split_words(text).expect(text);
    assert_eq!(words("a  b\tc"), ["a", "b", "c"]);
    assert_eq!(
        words("sh -c 'cat; echo \"$HOME\"'"),
        ["sh", "-c", "cat; echo \"$HOME\""]
    );
    assert_eq!(words(r#""a \" b"c\ d"#), ["a \" bc d"]);
    assert_eq!(words("x ''"), ["x", ""]);
    assert!(split_words("a 'b").is_err() && split_words("a\\").is_err());
}

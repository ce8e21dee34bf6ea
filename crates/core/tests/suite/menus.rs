//! Which kernels a menu item is about.

use autocomp_core::MenuItem;

#[test]
fn items_are_about_texts_with_one_of_their_words() {
    let text = "for (int i = 0; i < n; i++) { atomicAdd(&sum, x[i]); __syncwarp(); }";
    let is_about = |mentions: &[&str]| {
        let mentions = mentions.iter().map(|it| (*it).to_owned()).collect();
        let item = MenuItem {
            mentions,
            ..MenuItem::default()
        };
        item.is_mentioned_in(text)
    };
    for mentions in [
        &[][..],
        &["for"],
        &["while", "for"],
        &["atomic*"],
        &["*Add"],
        &["*sync*"],
        &["*"],
    ] {
        assert!(is_about(mentions), "{mentions:?}");
    }
    for mentions in [
        &["while"][..],
        &["fo"],
        &["atomic"],
        &["*atomic"],
        &["sync*", "Add*"],
    ] {
        assert!(!is_about(mentions), "{mentions:?}");
    }
}

//! Settings of searches.

use autocomp_core::SearchSettings;

#[test]
fn defaults_are_in_range() {
    SearchSettings::default().check().unwrap();
}

#[test]
fn bad_settings_are_named() {
    let error = |settings: SearchSettings| settings.check().unwrap_err().to_string();
    let good = SearchSettings::default();
    insta::assert_snapshot!(
        error(SearchSettings { beam: 0, ..good.clone() }),
        @"setting `beam` is 0, but must be from 1 to 256"
    );
    insta::assert_snapshot!(
        error(SearchSettings { menu_dropout: 1.0, ..good.clone() }),
        @"setting `menu_dropout` is 1, but must be at least 0 and below 1"
    );
    insta::assert_snapshot!(
        error(SearchSettings { slack: f64::NAN, ..good.clone() }),
        @"setting `slack` is NaN, but must be from 1 to 100"
    );
    insta::assert_snapshot!(
        error(SearchSettings { stop_at_percent_of_peak: Some(101.0), ..good }),
        @"setting `stop_at_percent_of_peak` is 101, but must be above 0 and at most 100"
    );
}

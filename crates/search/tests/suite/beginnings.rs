//! A search that dies after any event and goes on ends like an undisturbed one.
//!
//! Tests begin in the order of their names: the longest one begins first and has others
//! beside it to its end.

use crate::strategies::{names, run_with, with};
use crate::world::{World, go_on};
use autocomp_core::{Exhaustive, SearchSettings, Seed, canonical_history};
use autocomp_search::Search;
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use proptest::sample::select;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(15))]

    /// Death after any event, as the journal keeps what came before it.
    #[test]
    fn any_beginning_leads_to_the_same_end(strategy in select(names()), seed in 0_u64..1000) {
        let settings = SearchSettings {
            iterations: 3, repairs: 1, polish: 1, confirm: 2, niches: 1, ideas: 2, bandit: true,
            exhaustive: Exhaustive::Stalled, ..with(strategy)
        };
        let mut world = World { spellings: 2, is_faulty: true, ..World::default() };
        let (whole, _) = run_with(&mut world, settings, seed, 4, Seed(seed));
        for kept in (1..whole.len()).step_by(11) {
            let mut events = whole[..kept].to_vec();
            let mut search = Search::fold(&events).unwrap();
            go_on(&mut world, &mut search, &mut events, &mut Seed(!seed));
            prop_assert_eq!(canonical_history(&events), canonical_history(&whole));
        }
    }
}

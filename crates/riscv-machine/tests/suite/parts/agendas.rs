//! Agendas, against a list.

use autocomp_riscv_machine::Agenda;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_first_value_is_the_one_due_first_and_of_equals_the_oldest(
        steps in prop::collection::vec((any::<bool>(), 0u64..5), 0..60),
    ) {
        let mut agenda = Agenda::<usize, 4>::new(usize::MAX);
        let mut values: Vec<(u64, usize)> = Vec::new();
        for (number, (add, at)) in steps.into_iter().enumerate() {
            if add && values.len() < 4 {
                agenda.insert(at, number);
                values.push((at, number));
                values.sort_unstable();
            } else if !values.is_empty() {
                prop_assert_eq!(agenda.take(), values.remove(0).1);
            }
            prop_assert_eq!(agenda.len(), values.len());
            let next = values.first().map_or(u64::MAX, |(at, _)| *at);
            prop_assert_eq!(agenda.next(), next);
            for idx in 0..5 {
                prop_assert_eq!(agenda.get(idx), values.get(idx).copied());
            }
        }
    }
}

#[test]
fn what_is_added_behind_stays_there() {
    let mut agenda = Agenda::<char, 2>::new(' ');
    agenda.push_back(7, 'a');
    agenda.push_back(3, 'b');
    assert_eq!((agenda.next(), agenda.take()), (7, 'a'));
    assert_eq!((agenda.next(), agenda.take()), (3, 'b'));
    assert_eq!((agenda.next(), agenda.front()), (u64::MAX, None));
}

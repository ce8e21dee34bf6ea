//! Lists that lie in place while they are short, and lists that lie in pieces.

use autocomp_trainium_sim::inside::{Long, Short};

#[test]
fn a_list_is_the_same_near_and_far() {
    let mut list: Short<u32, 2> = Short::new();
    let mut like = Vec::new();
    for item in 0..5 {
        list.push(item);
        like.push(item);
        assert_eq!(list[..], like[..]);
        assert_eq!(list.clone()[..], like[..]);
    }
    list.edit(|all| {
        all.remove(1);
        all.truncate(1);
    });
    assert_eq!(list[..], [0]);
    list.extend_from_slice(&[7, 8]);
    list.iter_mut().for_each(|item| *item += 1);
    assert_eq!(list, [1, 8, 9].into_iter().collect());
    list.retain(|item| *item != 8);
    assert_eq!(list[..], [1, 9]);
    list.edit(Vec::clear);
    list.push(3);
    list.push(4);
    list.retain(|item| *item == 4);
    assert_eq!(list[..], [4]);
    list.retain(|_| false);
    assert!(list.is_empty());
}

#[test]
fn a_list_in_pieces_is_like_one_in_a_row() {
    // Around the ends of pieces, and around what is left of them.
    for length in [0, 1, 511, 512, 513, 1023, 1024, 1025, 3000] {
        let mut like: Vec<usize> = (0..length).collect();
        let mut list: Long<usize> = like.iter().copied().collect();
        assert_eq!(list.len(), length);
        assert_eq!(list.is_empty(), length == 0);
        assert!((0..length).all(|at| list[at] == at && list.get(at) == Some(&at)));
        assert_eq!(list.get(length), None);
        for keeps in [
            |it: usize| it % 3 != 1,
            |it| it > 4,
            |it| it < 1600,
            |_| false,
        ] {
            list.retain_mut(|item| {
                *item += 1;
                keeps(*item)
            });
            like.iter_mut().for_each(|item| *item += 1);
            like.retain(|item| keeps(*item));
            assert!(list.iter().eq(&like));
            assert_eq!(list.len(), like.len());
            list.push(length);
            like.push(length);
            assert_eq!(list.last_mut(), like.last_mut());
        }
        list.extend(0..700);
        like.extend(0..700);
        assert!(list.clone().into_iter().eq(like));
    }
}

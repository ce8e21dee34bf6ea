//! Lists that lie in place while they are short.

use autocomp_trainium_sim::inside::Short;

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

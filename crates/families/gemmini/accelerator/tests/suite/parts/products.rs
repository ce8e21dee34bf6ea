//! The forms of the matrix product agree with nested loops.

use autocomp_gemmini::InstructionSet;
use autocomp_gemmini::inside::{Host, Store, Weights, multiply_f32};
use proptest::prelude::*;

fn nested_loops(dim: usize, a: &[u8], w: &[i8], before: &[i32]) -> Vec<i32> {
    let mut out = before.to_vec();
    for i in 0..a.len() / dim {
        for j in 0..dim {
            for k in 0..dim {
                let product = i32::from(a[i * dim + k] as i8) * i32::from(w[k * dim + j]);
                out[i * dim + j] = out[i * dim + j].wrapping_add(product);
            }
        }
    }
    out
}

fn hosts() -> impl Iterator<Item = Host> {
    InstructionSet::available()
        .into_iter()
        .filter_map(Host::with)
}

/// Matrices of which some hold nothing but extremes.
fn problem() -> impl Strategy<Value = (usize, Vec<u8>, Vec<i8>, Vec<i32>)> {
    (
        prop::sample::select(vec![2usize, 4, 8, 16, 32, 64]),
        1usize..=17,
    )
        .prop_flat_map(|(dim, rows)| {
            let extreme = || prop::sample::select(vec![i8::MIN, i8::MAX]);
            let byte = || {
                prop_oneof![
                    prop::collection::vec(any::<i8>(), dim * dim),
                    prop::collection::vec(extreme(), dim * dim),
                    Just(vec![i8::MIN; dim * dim]),
                ]
            };
            let a = move |bytes: Vec<i8>| {
                let cycle = bytes.iter().cycle().take(rows * dim);
                cycle.map(|byte| *byte as u8).collect::<Vec<_>>()
            };
            (
                Just(dim),
                byte().prop_map(a),
                byte(),
                prop::collection::vec(any::<i32>(), rows * dim),
            )
        })
}

proptest! {
    #[test]
    fn every_form_of_the_integer_product_agrees(
        (dim, a, w, before) in problem(),
        share in 0usize..=64,
    ) {
        let mut zeros_behind = w.clone();
        zeros_behind[share.min(dim) * dim..].fill(0);
        let bytes: Vec<u8> = w.iter().map(|weight| *weight as u8).collect();
        let none = vec![0; before.len()];
        for host in hosts() {
            let mut weights = Weights::new(dim, host);
            let check = |weights: &Weights, w: &[i8]| {
                for (store, start) in [(Store::Add, &before), (Store::Overwrite, &none)] {
                    let mut out = before.clone();
                    weights.multiply(&a, &mut out, store);
                    prop_assert_eq!(&out, &nested_loops(dim, &a, w, start), "{:?}", host);
                }
                Ok(())
            };
            weights.load_rows(&bytes);
            check(&weights, &w)?;
            weights.load_rows(&bytes[..share.min(dim) * dim]);
            check(&weights, &zeros_behind)?;
            weights.load_with(|plain| plain.copy_from_slice(&bytes));
            check(&weights, &w)?;
            weights.clear();
            check(&weights, &vec![0; dim * dim])?;
        }
    }

    #[test]
    fn every_form_of_the_float_chain_agrees(
        a in prop::collection::vec(-1e3f32..1e3, 16),
        w in prop::collection::vec(-1e3f32..1e3, 16),
        start in prop::collection::vec(-1e3f32..1e3, 16),
    ) {
        let run = |host| {
            let mut out = start.clone();
            multiply_f32(host, 4, &a, &w, &mut out);
            out.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let mut hosts = hosts();
        let portable = run(hosts.next().expect("there is always the portable one"));
        for host in hosts {
            prop_assert_eq!(&portable, &run(host));
        }
    }
}

#[test]
fn float_products_are_fused_and_in_order() {
    // 1 + 2^-24 * ... cancels differently if a product is rounded first.
    let tiny = 1.0 + f32::EPSILON;
    let a = [tiny, -1.0, 0.0, 0.0];
    let mut w = [0.0; 16];
    w[0] = tiny;
    w[4] = 1.0 + 2.0 * f32::EPSILON;
    let mut out = [0.0; 4];
    multiply_f32(Host::detect(), 4, &a, &w, &mut out);
    let first = (f64::from(tiny) * f64::from(tiny)) as f32;
    assert_eq!(
        out[0],
        first - w[4],
        "the first product is rounded when it enters the chain"
    );
    let mut out = [-(1.0 + 2.0 * f32::EPSILON), 0.0, 0.0, 0.0];
    multiply_f32(Host::detect(), 4, &[tiny, 0.0, 0.0, 0.0], &w, &mut out);
    assert_eq!(
        out[0],
        f32::EPSILON * f32::EPSILON,
        "the last bits survive the cancellation"
    );
}

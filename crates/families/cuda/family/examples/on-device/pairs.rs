//! A kernel against itself, and against one with a little more work:
//! `pairs COUNT SECONDS FOLDER`, in which the compiled kernels are.

use crate::Place;
use crate::bundle::{answered, read};
use autocomp_catalog::{Catalog, Problem};
use autocomp_core::Seed;
use autocomp_cuda::inside::Entry;
use autocomp_measuring::Effort;
use autocomp_measuring::statistics::{Difference, Interval, difference, median};
use std::path::Path;
use std::time::{Duration, Instant};

pub const PROBLEM: &str = "cuda/gemm-f32-256x384x640";
/// Name of the kernel with more work.
pub const MORE_NAME: &str = "pairs_more";
/// Least difference that is told apart from none, as a share.
const BAND: f64 = 0.005;
/// Turns of the inner loop that are made twice: 45 of 640 take an H200 3 % longer.
const MORE: &str = "  float more = 0.0f;
  for (int k = 0; k < 45; k++) more += a[row * 640 + k] * b[k * 384 + column];
  sum += more == 1234.5f ? more : 0.0f;
";

/// Returns the kernel with more work.
pub fn more(problem: &Problem) -> String {
    problem.kernels["baseline"].replace("  c[row", &format!("{MORE}  c[row"))
}

pub fn pairs(place: &Place) -> Result<(), String> {
    let (count, seconds) = (place.number(0), place.number(1));
    let folder = Path::new(&place.words[2]);
    let target = place.target()?;
    let catalog = Catalog::built_in().map_err(|error| error.to_string())?;
    let problem = catalog
        .problem(PROBLEM)
        .map_err(|error| error.to_string())?;
    let all = [
        read(folder, &format!("{PROBLEM}__baseline"))?,
        read(folder, MORE_NAME)?,
    ];
    let cases: Vec<_> = (0..2)
        .map(|number| answered(&problem, &target, &all[0], Seed(number)))
        .collect::<Result<_, _>>()?;
    let effort = Effort {
        least_rounds: 9,
        most_rounds: 25,
        wall: Duration::from_millis(900),
        ..Effort::default()
    };
    println!(
        "pair\tmade\tno difference\tslower\tfaster\tmedian ratio\tmedian half width\tbase ns\trounds\tMHz before\tMHz after"
    );
    for (name, at) in [("itself", 0), ("3 % slower", 1)] {
        let answer = place.work(seconds + 30, &problem, |session| {
            let mut base = session.load(&all[0])?;
            let mut candidate = session.load(&all[at])?;
            let uploaded: Vec<_> = cases
                .iter()
                .map(|it| session.upload(it, Seed(5)))
                .collect::<Result<_, _>>()?;
            for case in &uploaded {
                session.test(&mut base, case)?;
                session.test(&mut candidate, case)?;
            }
            let clock = session.clock()?;
            let end = Instant::now() + Duration::from_secs(seconds);
            let (mut made, mut slower, mut faster) = (0, 0, 0);
            let (mut ratios, mut widths) = (Vec::new(), Vec::new());
            let (mut ns, mut rounds) = (0.0, 0);
            while made < count && Instant::now() < end {
                let seed = Seed(made).derive(name);
                let sides = (&mut candidate, &mut base);
                let compared = session.compare(sides, &uploaded, seed, effort);
                let compared = compared.map_err(|Entry(_, failure)| failure)?;
                let [low, middle, high] = compared.ratio;
                let interval = Interval {
                    low,
                    median: middle,
                    high,
                };
                match difference(&interval, BAND) {
                    Difference::Slower => slower += 1,
                    Difference::Faster => faster += 1,
                    Difference::None => {}
                }
                ratios.push(middle);
                widths.push(interval.half_width());
                ns = median(&compared.base_ns);
                rounds += compared.base_ns.len() / 2;
                made += 1;
            }
            let after = session.clock()?;
            Ok(format!(
                "{made}\t{}\t{slower}\t{faster}\t{:.5}\t{:.5}\t{ns:.0}\t{rounds}\t{:.0}\t{:.0}",
                made - slower - faster,
                median(&ratios),
                median(&widths),
                clock.mhz,
                after.mhz
            ))
        });
        println!("{name}\t{answer}");
    }
    Ok(())
}

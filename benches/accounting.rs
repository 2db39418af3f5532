//! Time per case of the tight accountant: the oracle's compositions, and 100 different mechanisms at once.
//!
//! Goals: under 1 ms a case, under 50 ms for 100 distinct mechanisms. Run: cargo bench -p subrosa-benches --bench accounting

use divan::Bencher;
use subrosa::accounting::{Accountant, Composition, Moments, Rdp, Tight};
use subrosa::vocab::{Cost, Delta};

fn main() {
    divan::main();
}

fn delta() -> Delta {
    Delta::new(1e-5).expect("1e-5 is between 0 and 1")
}

fn composition(costs: &[(Cost, u64)]) -> Composition {
    costs.iter().map(|(cost, count)| (cost, *count)).collect()
}

fn dp_fts_de() -> Composition {
    composition(&[(Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 }, 40)])
}

fn mixed() -> Composition {
    composition(&[
        (Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 1.0 }, 40),
        (Cost::Gaussian { noise_multiplier: 2.0 }, 10),
        (Cost::Laplace { scale: 4.0 }, 5),
    ])
}

fn hundred() -> Composition {
    (0..100)
        .map(|k| {
            let k = f64::from(k);
            (Cost::PoissonGaussian { rate: 0.05 + 0.002 * k, noise_multiplier: 1.0 + 0.02 * k }, 1)
        })
        .collect::<Vec<_>>()
        .iter()
        .map(|(cost, count)| (cost, *count))
        .collect()
}

macro_rules! cases {
    ($($name:ident: $accountant:expr, $composition:expr;)+) => {
        $(
            #[divan::bench]
            fn $name(bencher: Bencher) {
                let composition = $composition;
                bencher.bench(|| $accountant.price(divan::black_box(&composition), delta()));
            }
        )+
    };
}

cases! {
    tight_dp_fts_de: Tight, dp_fts_de();
    rdp_dp_fts_de: Rdp, dp_fts_de();
    moments_dp_fts_de: Moments, dp_fts_de();
    tight_mixed: Tight, mixed();
    tight_1000_laplace: Tight, composition(&[(Cost::Laplace { scale: 10.0 }, 1000)]);
    tight_50_laplace: Tight, composition(&[(Cost::Laplace { scale: 5.0 }, 50)]);
    tight_40_exponential: Tight, composition(&[(Cost::ExponentialMechanism { epsilon: 0.1 }, 40)]);
    tight_hundred_distinct: Tight, hundred();
}

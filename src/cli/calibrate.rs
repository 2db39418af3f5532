//! `subrosa calibrate`: the smallest noise multiplier for a target epsilon, or the largest number of rounds for a given
//! noise multiplier, by the tight accountant. With `--scenario` the command computes other quantities; the module
//! `design_rule` does that.

use super::design_rule;
use super::exit::Exit;
use super::options::{BadValue, CalibrateArguments, Format};
use super::output::{eprint_line, print, width};
use crate::accounting::calibration::{MAX_ROUNDS, MIN_NOISE, Target, most_rounds, smallest_noise};
use crate::report;
use crate::vocab::{Delta, Epsilon, OutOfRange, Positive, Probability};
use serde::Serialize;

/// Names of the two quantities that can be computed.
const NOISE: &str = "noise_multiplier";
const ROUNDS: &str = "rounds";

/// The result; exactly one of `noise_multiplier` and `rounds` is present.
#[derive(Serialize)]
struct Calibrated {
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_multiplier: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<f64>,
    epsilon_reached: f64,
    epsilon: f64,
    delta: f64,
    rate: f64,
    accountant: &'static str,
    arithmetic: &'static str,
    search_ended: bool,
}

/// Runs the command.
pub(super) fn calibrate(arguments: &CalibrateArguments) -> Exit {
    if let Some(scenario) = &arguments.scenario {
        return design_rule::columns(scenario, arguments);
    }
    let target = match target(arguments) {
        Ok(target) => target,
        Err(error) => {
            eprint_line(format_args!("error: {error}"));
            return Exit::Usage;
        }
    };
    // If the search stops at the end of its range, the true optimum may be beyond it; the output says so.
    let (key, value, reached, beyond) = match (arguments.rounds, arguments.noise) {
        (Some(rounds), None) => match smallest_noise(&target, rounds) {
            Some((noise, reached)) => {
                (NOISE, noise, reached, (noise <= MIN_NOISE).then_some("less noise may be enough"))
            }
            None => return impossible("no noise multiplier up to 1e6 keeps"),
        },
        (None, Some(noise)) => {
            let Ok(noise) = Positive::new(noise) else {
                eprint_line(format_args!("error: --noise: expected a finite number above 0, found {noise}"));
                return Exit::Usage;
            };
            let (rounds, reached) = most_rounds(&target, noise);
            let beyond = (rounds >= MAX_ROUNDS).then_some("more rounds may be possible");
            (ROUNDS, rounds as f64, reached, beyond)
        }
        (None, None) | (Some(_), Some(_)) => {
            eprint_line("error: give either --rounds (to find the noise) or --noise (to find the rounds)");
            return Exit::Usage;
        }
    };
    let (epsilon, delta, rate) = (target.epsilon.get(), target.delta.get(), target.rate.get());
    match arguments.format {
        Format::Text => print(&report::message(
            &format!(
                "{key} {value}\nepsilon reached {reached} of {epsilon} at delta {delta:e}, sampling rate {rate}, \
             accountant tight\nideal arithmetic assumed: the noise is analysed as real-valued\n{}",
                beyond.map_or_else(String::new, |more| format!("the search ends here: {more}\n")),
            ),
            width(),
        )),
        Format::Json => {
            print(&report::json(&Calibrated {
                noise_multiplier: (key == NOISE).then_some(value),
                rounds: (key == ROUNDS).then_some(value),
                epsilon_reached: reached,
                epsilon,
                delta,
                rate,
                accountant: "tight",
                arithmetic: "ideal arithmetic assumed",
                search_ended: beyond.is_some(),
            }));
        }
    }
    Exit::Ok
}

fn target(arguments: &CalibrateArguments) -> Result<Target, BadValue> {
    let of = |flag: &'static str| move |error: OutOfRange| BadValue::Flag { flag, error };
    Ok(Target {
        // Without --scenario, clap requires --epsilon, so this default is never used.
        epsilon: Epsilon::new(arguments.epsilon.unwrap_or(f64::NAN)).map_err(of("--epsilon"))?,
        delta: Delta::new(arguments.delta).map_err(of("--delta"))?,
        rate: Probability::new(arguments.rate).map_err(of("--rate"))?,
    })
}

fn impossible(what: &str) -> Exit {
    eprint_line(format_args!("error: {what} the target: lower --rounds or --rate, or raise --epsilon"));
    Exit::Usage
}

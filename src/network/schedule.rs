//! Settings that change at stated times: which step of a schedule holds at a time, and for which share of the time each step
//! holds.

use crate::vocab::{Problem, Span, Time};

/// The number of the step, from 0, that holds at the time `at`. The steps begin at the ascending times `begins`, the first
/// of which is 0; with `every`, the schedule is repeated with this period.
pub(super) fn step(
    begins: impl DoubleEndedIterator<Item = Span> + ExactSizeIterator,
    every: Option<Span>,
    at: Time,
) -> usize {
    let place = match every {
        Some(every) => Span::from_nanos(at.nanos() % every.nanos().max(1)),
        None => at - Time::ZERO,
    };
    let last = begins.enumerate().rev().find(|(_, begins)| *begins <= place);
    last.map_or(0, |(index, _)| index)
}

/// The share of the time for which each step holds in the long run; without repetition, the share of the last step is 1.
pub(super) fn shares(begins: &[Span], every: Option<Span>) -> Vec<f64> {
    let Some(every) = every else {
        return (1..=begins.len()).map(|step| f64::from(u8::from(step == begins.len()))).collect();
    };
    let ends = begins.iter().skip(1).copied().chain([every]);
    begins.iter().zip(ends).map(|(from, to)| (to.seconds() - from.seconds()) / every.seconds()).collect()
}

/// What is wrong with the times of a schedule.
pub(super) fn problems(begins: &[Span], every: Option<Span>) -> Vec<Problem> {
    let Some(first) = begins.first() else {
        let cure = "write at least one step, which begins at \"0s\"";
        return vec![Problem::wrong("steps", "at least one step", "none", cure)];
    };
    let mut problems = Vec::new();
    if *first > Span::ZERO {
        let cure = "say what holds from the start: begin with a step at \"0s\"";
        problems.push(Problem::wrong("steps[0].at", "0s for the first step", first.to_string(), cure));
    }
    if let Some(index) = (1..begins.len()).find(|&index| begins[index] <= begins[index - 1]) {
        problems.push(Problem::wrong(
            format!("steps[{index}].at"),
            format!("a time after {}", begins[index - 1]),
            begins[index].to_string(),
            "put the steps in order of time, each time once",
        ));
    }
    if let (Some(every), Some(last)) = (every, begins.last())
        && every <= *last
    {
        let expected = format!("a duration above {last}, the time of the last step");
        problems.push(Problem::wrong(
            "every",
            expected,
            every.to_string(),
            "raise it, or leave the step out",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_at_a_time_and_its_share() {
        let s = |seconds: u64| Span::from_millis(1000 * seconds);
        let begins = [s(0), s(2), s(3)];
        let at = |seconds, every| step(begins.into_iter(), every, Time::ZERO + s(seconds));
        assert_eq!([0, 1, 2, 3, 9].map(|second| at(second, None)), [0, 0, 1, 2, 2]);
        assert_eq!([9, 10, 12, 13].map(|second| at(second, Some(s(10)))), [2, 0, 1, 2]);
        assert_eq!(shares(&begins, Some(s(10))), [0.2, 0.1, 0.7]);
        assert_eq!(shares(&begins, None), [0.0, 0.0, 1.0]);
        assert_eq!(problems(&begins, Some(s(3)))[0].path, "every");
        assert_eq!(problems(&[s(1)], None)[0].path, "steps[0].at");
    }
}

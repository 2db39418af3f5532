//! Explanations of terms, which a page shows on request beside a term.

/// Each term with its explanation.
const TERMS: [(&str, &str); 16] = [
    (
        "epsilon",
        "The privacy loss: the probability of every set of outputs that an observer may see is at most e^epsilon times \
         its probability on neighbouring data, plus delta. Neighbouring data differ in one unit (row, user or agent), as \
         the note on neighbours says. 0 means that nothing is learned, except with probability delta; 1 is a common \
         target; above 10 little is promised.",
    ),
    (
        "delta",
        "A probability that is added in the definition of epsilon: P(S) is at most e^epsilon P'(S) + delta for every \
         set S of outputs, where P and P' are the distributions of outputs on two neighbouring data sets.",
    ),
    (
        "simple regret",
        "The value of the best arm minus that of the best arm tried so far: how much a better search would still gain.",
    ),
    (
        "cumulative regret",
        "The value of the best arm minus that of the arm tried, added up over all rounds: what searching cost on the way.",
    ),
    (
        "tight",
        "The smallest upper bound that this program computes on the epsilon of all releases of a run together, from the \
         distributions of their privacy losses.",
    ),
    ("naive (basic)", "The epsilons of all releases added up: a bound, but a larger one than necessary."),
    (
        "as published",
        "The epsilon that a paper or a user claims, composed over the releases as the claim says; not taken as true.",
    ),
    (
        "claimed",
        "The epsilon that a paper or a user claims, composed over the releases as the claim says; not taken as true.",
    ),
    ("proven", "The bound holds for every pair of neighbours, by a proof that the program relies on."),
    ("conditional", "The bound holds under conditions that the notes name."),
    (
        "refuted",
        "The claim is known to be false here: an observer can distinguish some pair of neighbours better than the claim \
         allows.",
    ),
    (
        "unprotected",
        "Sent without protection, or with a protection for which no bound is known: no finite epsilon is stated.",
    ),
    ("exceeded", "The tight bound is larger than the claim."),
    ("lost", "Messages that never arrived; the sender sends again if the protocol lets it."),
    ("time", "Virtual time: what a clock in the simulated world shows, not how long the simulation took."),
    ("virtual time", "What a clock in the simulated world shows, not how long the simulation took."),
];

/// The explanation of a term; empty for any other word.
pub(super) fn meaning(word: &str) -> String {
    TERMS
        .iter()
        .find(|(known, _)| *known == word)
        .map_or_else(String::new, |(_, meaning)| (*meaning).to_owned())
}

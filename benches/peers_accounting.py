"""Google's dp-accounting (privacy loss distributions) on random lists, to compare with the tight accountant.

Called with a number of lists, a seed and a file; writes one line a list, "delta;KIND numbers count;... TAB lower TAB upper",
the two ends by its optimistic and its pessimistic estimate. With --compare FILE OURS it reads such lines and lines
"list TAB lower TAB epsilon", and prints how far they disagree. Set SUBROSA_PYTHON to a Python that has dp-accounting.

Kinds: SG rate noise_multiplier (Poisson-subsampled Gaussian), G noise_multiplier, L scale, RR epsilon (the worst of all
epsilon-DP mechanisms). Noise is at sensitivity 1.
"""
import math
import random
import sys


def distribution(kind, numbers, interval, pessimistic):
    from dp_accounting.pld import privacy_loss_distribution as pld

    common = {"value_discretization_interval": interval, "pessimistic_estimate": pessimistic}
    # The "connect the dots" discretisation gives an upper bound.
    common["use_connect_dots"] = pessimistic
    if kind == "SG":
        return pld.from_gaussian_mechanism(numbers[1], sampling_prob=numbers[0], **common)
    if kind == "G":
        return pld.from_gaussian_mechanism(numbers[0], **common)
    if kind == "L":
        return pld.from_laplace_mechanism(numbers[0], **common)
    share = 2.0 / (1.0 + math.exp(numbers[0]))
    del common["use_connect_dots"]
    return pld.from_randomized_response(share, 2, **common)


def price(delta, items, interval, pessimistic):
    total = None
    for kind, numbers, count in items:
        one = distribution(kind, numbers, interval, pessimistic)
        many = one.self_compose(count) if count > 1 else one
        total = many if total is None else total.compose(many)
    return total.get_epsilon_for_delta(delta)


def ends(delta, items):
    """Lower and upper end, on finer and finer lattices until they are close or the lattice is too large."""
    interval = 1e-2
    best = (0.0, math.inf)
    for _ in range(6):
        try:
            low, high = (price(delta, items, interval, pessimistic) for pessimistic in (False, True))
        except (MemoryError, OverflowError, ValueError):
            break
        best = (max(best[0], low), min(best[1], high))
        if best[1] - best[0] <= 2e-3 * best[1] or best[1] <= 0.0:
            break
        interval = min(interval / 4.0, best[1] / 300.0)
        # Approximate number of points of the lattice.
        if best[1] / interval > 5e4:
            break
    return best


def draw(source):
    def log(low, high):
        return math.exp(source.uniform(math.log(low), math.log(high)))

    items = []
    for _ in range(source.choice([1, 1, 1, 2, 3])):
        kind = source.choice(["SG", "SG", "SG", "G", "L", "RR"])
        count = source.choice([1, 1, int(log(1, 30)), int(log(1, 1000))])
        numbers = {
            "SG": lambda: [log(1e-4, 1.0), log(0.4, 30.0)],
            "G": lambda: [log(0.5, 50.0) * math.sqrt(count)],
            "L": lambda: [log(0.7, 50.0) * math.sqrt(count)],
            "RR": lambda: [log(0.02, 2.0) / math.sqrt(count)],
        }[kind]()
        items.append((kind, [float(f"{number:.6g}") for number in numbers], count))
    return float(f"{log(1e-10, 3e-2):.4g}"), items


def text(delta, items):
    parts = [" ".join([kind, *map(repr, numbers), str(count)]) for kind, numbers, count in items]
    return ";".join([repr(delta), *parts])


def generate(count, seed, file):
    source = random.Random(seed)
    with open(file, "w") as out:
        for _ in range(count):
            delta, items = draw(source)
            low, high = ends(delta, items)
            out.write(f"{text(delta, items)}\t{low!r}\t{high!r}\n")
            out.flush()


def compare(peer, ours):
    theirs = {}
    for line in open(peer):
        key, low, high = line.rstrip("\n").split("\t")
        theirs[key] = (float(low), float(high))
    checked, outside, worst = 0, 0, 0.0
    for line in open(ours):
        key, lower, epsilon = line.rstrip("\n").split("\t")[:3]
        if key not in theirs:
            continue
        low, high = theirs[key]
        lower, epsilon = float(lower), float(epsilon)
        checked += 1
        # The lower end of each accountant must be below the upper end of the other.
        if lower > high * (1 + 1e-6) + 1e-9 or low > epsilon * (1 + 1e-6) + 1e-9:
            outside += 1
            print(f"apart: {key}: ours {lower} to {epsilon}, theirs {low} to {high}")
        if high > 0 and high - low <= 5e-3 * high:
            worst = max(worst, epsilon / high - 1.0)
    print(f"{checked} lists, {outside} apart, ours above their upper end by at most {worst:.2e} where they know it to 5e-3")


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        compare(*sys.argv[2:4])
    else:
        generate(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

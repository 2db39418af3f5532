"""A mechanism for outcomes: Laplace noise on outcomes that are clipped to [-3, 3].

Needs nothing but Python. Any two outcomes differ by at most 6 after clipping, so noise of scale 6 costs epsilon 1 a row,
for real-valued noise; its variance is 2 * 6 ** 2 = 72. Each answer has four seeds of its own, and nothing is kept from
one answer to the next.
"""

import json
import random
import sys

SCALE = 6.0

for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question["id"]}
    if question["ask"] == "hello":
        answer |= {"protocol": 1, "version": "Laplace noise of scale 6 on outcomes within 3"}
    elif question["ask"] == "answer":
        draw = random.Random(json.dumps(question["seeds"]))
        noise = draw.expovariate(1.0) - draw.expovariate(1.0)
        answer["outcome"] = max(-3.0, min(3.0, question["outcome"])) + SCALE * noise
    print(json.dumps(answer), flush=True)

"""The switching DAE of [RAB] solved by hand, and the measures of the study.

    x1' = 1 + B1 z,  x2' = B2 z,  x2 in |x1| + sign(x1)          eq. (10), A = 0
"""

import math

SLIDING_CROSSING = {"B1": -0.5, "B2": 1.0}
SLIDING_REPULSIVE = {"B1": -1.0, "B2": 0.5}


def affine_solution(B1, B2, x0):
    """The continuous solution of eq. (10) as a function of t, for B under Proposition 2.

    The modes follow each other as x1 < 0, x1 = 0, x1 > 0; x1' and x2' are those of section 3.1.
    """
    x1, x2 = x0
    pieces = []  # (from t, x1, x2, x1', x2')
    t = 0.0
    if x1 < 0:
        rate = B2 / (B1 + B2)
        pieces.append((t, x1, x2, rate, -rate))
        t += -x1 / rate if rate > 0 else math.inf
        x1, x2 = 0.0, -1.0
    if x1 == 0 and x2 < 1 and t < math.inf:
        rate = -B2 / B1
        pieces.append((t, 0.0, x2, 0.0, rate))
        t += (1 - x2) / rate if rate > 0 else math.inf
        x2 = 1.0
    if t < math.inf:
        rate = -B2 / (B1 - B2)
        pieces.append((t, x1, x2, rate, rate))

    def at(time):
        start, x1, x2, rate1, rate2 = [piece for piece in pieces if piece[0] <= max(time, 0)][-1]
        return x1 + (time - start) * rate1, x2 + (time - start) * rate2

    return at


def variant37(time):
    """The solution of the variant (37) from (0, 0): it slides until 2 log 2."""
    if time <= 2 * math.log(2):
        return 0.0, math.expm1(time / 2)
    x1 = 2 - 2 * math.exp(-(time - 2 * math.log(2)) / 3)
    return x1, 1 + x1


def distance(row, point):
    """The Euclidean distance of (x1, x2), the norm of Figure 9."""
    return math.hypot(row["x1"] - point[0], row["x2"] - point[1])


def largest_distance(rows, exact):
    """Over all rows, each at its own t."""
    return max(distance(row, exact(row["t"])) for row in rows)


def largest_difference(rows, others):
    """Between two runs over the same times; infinite if the times differ."""
    if [row["t"] for row in rows] != [row["t"] for row in others]:
        return math.inf
    return max(distance(row, (other["x1"], other["x2"])) for row, other in zip(rows, others))


def slope(steps, errors):
    """Of log(error) over log(h), by least squares."""
    x = [math.log(h) for h in steps]
    y = [math.log(error) for error in errors]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    products = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return products / sum((a - mean_x) ** 2 for a in x)


# How many steps of h a run over [0, T] makes that does not shorten its last one.
LAST_STEPS = {
    "floor": lambda T, h: math.floor(T / h * (1 + 1e-12)),
    "ceil": lambda T, h: math.ceil(T / h * (1 - 1e-12)),
    "ceil + 1": lambda T, h: math.ceil(T / h * (1 - 1e-12)) + 1,
}

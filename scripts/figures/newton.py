"""One implicit Euler step of the relay form (34) by Newton's method with complementarity inside.

    x1+ = x1 + h (1 + B1 z),  x2+ = x2 + h B2 z,  x2+ = (1 + x1+) s,  s in sign(x1+)

The product is linearised at the last iterate, the laws are kept: with D for its derivative by s,

    x2+ = (1 + x1*) s* + s* (x1+ - x1*) + D (s - s*)

which is solved mode by mode. D = 1 + x1* is the derivative; D = x1* is what an implementation of
the relay form has that is published beside the report's examples.
"""


def solve_linearised(B1, B2, x, h, iterate, D):
    """All solutions (x1+, x2+, s) of the linearised step."""
    x1, x2 = x
    at, s_at = iterate
    # x = p + z h (B1, B2), p the free motion
    p1, p2 = x1 + h, x2
    found = []
    constant = (1 + at) * s_at - s_at * at - D * s_at
    for s in (-1.0, 1.0):
        # p2 + h B2 z = constant + s_at (p1 + h B1 z) + D s
        slope = h * (B2 - s_at * B1)
        if slope == 0:
            continue
        z = (constant + s_at * p1 + D * s - p2) / slope
        x1_next = p1 + h * B1 * z
        if x1_next * s >= 0:
            found.append((x1_next, p2 + h * B2 * z, s))
    if B1 != 0 and D != 0:  # x1+ = 0: z is known, s is not
        z = -p1 / (h * B1)
        x2_next = p2 + h * B2 * z
        s = (x2_next - constant) / D
        if -1 <= s <= 1:
            found.append((0.0, x2_next, s))
    return found


def step(B1, B2, x, s, h, derivative, tolerance=1e-12, most=100):
    """(x1+, x2+, s, iterations), or None: no solution of an iterate, or not converged."""
    iterate = (x[0], s)
    for count in range(1, most + 1):
        found = solve_linearised(B1, B2, x, h, iterate, derivative(iterate[0]))
        if not found:
            return None
        nearest = min(found, key=lambda y: abs(y[0] - iterate[0]) + abs(y[2] - iterate[1]))
        change = abs(nearest[0] - iterate[0]) + abs(nearest[2] - iterate[1])
        iterate = (nearest[0], nearest[2])
        if change <= tolerance:
            return (*nearest, count)
    return None


def run(B1, B2, x0, s0, h, T, derivative):
    """(time reached, state there, largest number of iterations); stops where a step fails."""
    x, s, t, most = x0, s0, 0.0, 0
    for k in range(round(T / h)):
        made = step(B1, B2, x, s, h, derivative)
        if made is None:
            return t, x, most
        x, s = made[:2], made[2]
        t, most = (k + 1) * h, max(most, made[3])
    return t, x, most

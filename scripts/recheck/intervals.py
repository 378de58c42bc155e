"""Intervals of fixed point numbers: whole multiples of 2^-1100, of which all doubles are some. Sums are exact, products and
quotients are rounded outward, functions are summed up from their series."""

import math

P = 1100  # doubles are multiples of 2^-1074
ONE = 1 << P
ZERO = (0, 0)


class NoProof(Exception):
    """Something could not be shown again."""


# Intervals: pairs of whole numbers, in units of 2^-P.


def number(text):
    numerator, denominator = float.fromhex(text).as_integer_ratio()
    return numerator * (ONE // denominator)


def point(text):
    return (number(text), number(text))


def interval(pair):
    return (number(pair[0]), number(pair[1]))


def box_of(list_of_pairs):
    return [interval(pair) for pair in list_of_pairs]


def matrix(rows):
    return [[point(entry) for entry in row] for row in rows]


def whole(n):
    return (n * ONE, n * ONE)


def add(a, b):
    return (a[0] + b[0], a[1] + b[1])


def negative(a):
    return (-a[1], -a[0])


def subtract(a, b):
    return (a[0] - b[1], a[1] - b[0])


def product(a, b):
    """In units of 2^-2P, exact."""
    (al, ah), (bl, bh) = a, b
    if al >= 0:
        return (al * bl if bl >= 0 else ah * bl, ah * bh if bh >= 0 else al * bh)
    if ah <= 0:
        return (al * bh if bh >= 0 else ah * bh, ah * bl if bl >= 0 else al * bl)
    if bl >= 0:
        return (al * bh, ah * bh)
    if bh <= 0:
        return (ah * bl, al * bl)
    return (min(al * bh, ah * bl), max(al * bl, ah * bh))


def rounded(a):
    return (a[0] >> P, -(-a[1] >> P))


def multiply(a, b):
    return ZERO if a == ZERO or b == ZERO else rounded(product(a, b))


def square(a):
    low = 0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))
    return rounded((low * low, max(abs(a[0]), abs(a[1])) ** 2))


def divide(a, b):
    if b[0] <= 0 <= b[1]:
        raise NoProof("a divisor may be 0")
    if b[1] < 0:
        a, b = negative(a), negative(b)
    low, high = a[0] << P, a[1] << P
    return (low // (b[1] if low >= 0 else b[0]), -(-high // (b[0] if high >= 0 else b[1])))


def part(a, n):
    """a/n of a whole number n > 0."""
    return (a[0] // n, -(-a[1] // n))


def common(a, b):
    both = (max(a[0], b[0]), min(a[1], b[1]))
    if both[0] > both[1]:
        raise NoProof("two enclosures of one set do not meet")
    return both


def hull(a, b):
    return (min(a[0], b[0]), max(a[1], b[1]))


def contains(a, b):
    return a[0] <= b[0] and b[1] <= a[1]


def sign(a):
    return 1 if a[0] > 0 else -1 if a[1] < 0 else 0


def size(a):
    return max(abs(a[0]), abs(a[1]))


# Functions at points, from their series.


def series(r, step):
    """1 + the terms that `step` makes one of the other, until what is left is below two units."""
    total, term, n = whole(1), whole(1), 0
    while size(term) > 1:
        n += 1
        term = step(term, n)
        total = add(total, term)
    return (total[0] - 4, total[1] + 4)  # |r| <= 1: what is left is at most 2 |term|


def exp_point(x):
    if x < 0:
        return divide(whole(1), exp_point(-x))
    halvings = max(0, x.bit_length() - P + 8)
    r = part((x, x), 1 << halvings)
    result = series(r, lambda term, n: part(multiply(term, r), n))
    for _ in range(halvings):
        result = square(result)
    return result


def pi():
    def arctangent_of_inverse(m):
        total, power, k = ZERO, part(whole(1), m), 0
        while size(power) > 1:
            term = part(power, 2 * k + 1)
            total = add(total, term) if k % 2 == 0 else subtract(total, term)
            power, k = part(power, m * m), k + 1
        return (total[0] - 4, total[1] + 4)

    return subtract(multiply(whole(16), arctangent_of_inverse(5)), multiply(whole(4), arctangent_of_inverse(239)))


PI = pi()
HALF_PI = part(PI, 2)


def sin_point(x):
    """sin x = sin, cos, -sin or -cos of x - n pi/2."""
    n = ((x << P) // HALF_PI[0] + (ONE >> 1)) >> P
    r = subtract((x, x), multiply(whole(n), HALF_PI))
    r2 = square(r)
    if n % 2 == 0:
        value = multiply(r, series(r, lambda term, k: negative(part(multiply(term, r2), 2 * k * (2 * k + 1)))))
    else:
        value = series(r, lambda term, k: negative(part(multiply(term, r2), 2 * k * (2 * k - 1))))
    return value if n % 4 < 2 else negative(value)


def log_point(x):
    if x <= 0:
        raise NoProof("the logarithm of a number that is not positive")
    shift = max(0, x.bit_length() - 60)
    guess = int((math.log(x >> shift) + (shift - P) * math.log(2)) * 2**40) * (ONE >> 40)
    z = subtract(multiply((x, x), exp_point(-guess)), whole(1))
    total, power, n = ZERO, z, 1
    while size(power) > 1:
        total = add(total, part(power, n)) if n % 2 else subtract(total, part(power, n))
        power, n = multiply(power, z), n + 1
    return add((guess, guess), (total[0] - 4, total[1] + 4))


# Functions of intervals.


def exp(a):
    return (exp_point(a[0])[0], exp_point(a[1])[1])


def log(a):
    return (log_point(a[0])[0], log_point(a[1])[1])


def sqrt(a):
    if a[0] < 0:
        raise NoProof("the root of a number that is negative")
    high = math.isqrt(a[1] << P)
    return (math.isqrt(a[0] << P), high if high * high == a[1] << P else high + 1)


def sin(a):
    low, high = hull(sin_point(a[0]), sin_point(a[1]))
    first = -(-divide(subtract((a[0], a[0]), HALF_PI), PI)[0] >> P)
    last = divide(subtract((a[1], a[1]), HALF_PI), PI)[1] >> P
    for k in range(first, min(last, first + 1) + 1):  # pi/2 + k pi may be inside
        low, high = (low, ONE) if k % 2 == 0 else (-ONE, high)
    return (max(low, -ONE), min(high, ONE))


def cos(a):
    return sin(add(a, HALF_PI))


def sinh_point(x):
    up = exp_point(x)
    return part(subtract(up, divide(whole(1), up)), 2)


def sinh(a):
    return (sinh_point(a[0])[0], sinh_point(a[1])[1])


def cosh(a):
    """sqrt(1 + sinh^2)"""
    return sqrt(add(whole(1), square(sinh(a))))

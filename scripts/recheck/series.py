"""Taylor coefficients of the solutions of x' = f(t, x) through all points of a box, and their first derivatives: the lines
of a mode's tape become quantities with recurrences."""

import fractions

from recheck.intervals import (
    ONE, PI, ZERO, NoProof, add, cos, cosh, divide, exp, interval, log, multiply, negative, part, point, product, rounded,
    sign, sin, sinh, sqrt, square, subtract, whole,
)


class NotJudged(Exception):
    """Equations of a kind that this program does not know."""


FUNCTIONS = {"sin": sin, "cos": cos, "sinh": sinh, "cosh": cosh}
PARTNERS = {"sin": "cos", "sinh": "cosh"}
SIGNS = {"sin": -1, "sinh": 1}
OPERANDS = {"add": 2, "subtract": 2, "multiply": 2, "divide": 2, "min": 2, "max": 2}  # others have one
KEPT = {"add", "subtract", "multiply", "divide", "negate", "exp", "log", "sqrt", "abs", "min", "max", "sign"}


class Equations:
    """x' = f(t, x) of a mode: quantities (kind, operands) and those that they depend on."""

    def __init__(self, flow):
        if flow["implicit"] or flow["invariants"]:
            raise NotJudged("implicit unknowns, or invariants")
        self.count = len(flow["rates"])
        self.quantities = [("state", j) for j in range(self.count)]
        self.inputs = flow["inputs"]
        self.lines = []
        wanted = self.needed(flow)
        for k, line in enumerate(flow["tape"]):
            self.lines.append(self.line(line) if k in wanted else None)
        self.rates = [self.lines[k] for k in flow["rates"]]
        self.outputs = [self.lines[k] for k in flow["outputs"]]
        self.dependents = [(state, self.lines[k]) for state, k in flow["dependents"]]
        self.depends = self.dependences(self.rates)

    @staticmethod
    def needed(flow):
        wanted = set(flow["rates"]) | set(flow["outputs"]) | {k for _, k in flow["dependents"]}
        for k in range(len(flow["tape"]) - 1, -1, -1):
            name, *operands = flow["tape"][k]
            if k in wanted and name not in ("constant", "input", "pi"):
                wanted.update(operands)
        return wanted

    def make(self, kind, *operands):
        self.quantities.append((kind, *operands))
        return len(self.quantities) - 1

    def line(self, line):
        name, *operands = line
        if name == "constant":
            return self.make("constant", point(operands[0]))
        if name == "pi":
            return self.make("constant", PI)
        if name == "input":
            return self.input(self.inputs[operands[0]])
        a, b = self.lines[operands[0]], self.lines[operands[-1]]
        if name == "multiply" and a == b:
            return self.make("square", a)
        if name in KEPT:
            return self.make(name, a, b) if len(operands) == 2 else self.make(name, a)
        if name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
            return self.pair(name, a)
        if name == "power":
            return self.power(a, b)
        raise NotJudged(f"the function {name}")

    def input(self, given):
        if given[0] == "state":
            return given[1]
        if given[0] == "time":
            return self.make("time")
        if given[0] == "constant":
            return self.make("constant", interval(given[1]))
        raise NotJudged(f"an input that is {given[0]}")

    def pair(self, name, a):
        first = "sin" if name in ("sin", "cos", "tan") else "sinh"
        known = [k for k, quantity in enumerate(self.quantities) if quantity[:3] == ("pair", a, first)]
        s = known[0] if known else self.make("pair", a, first, SIGNS[first])
        if not known:
            self.make("partner", a, first, SIGNS[first])
        if name in ("tan", "tanh"):
            return self.make("divide", s, s + 1)
        return s if name == first else s + 1

    def natural_power(self, a, n):
        if n == 1:
            return a
        even = self.make("square", self.natural_power(a, n // 2))
        return even if n % 2 == 0 else self.make("multiply", even, a)

    def power(self, a, b):
        kind, *value = self.quantities[b]
        if kind == "constant" and value[0][0] == value[0][1]:
            exponent = fractions.Fraction(value[0][0], ONE)
            if exponent == 0:
                return self.make("constant", whole(1))
            if exponent == fractions.Fraction(1, 2):
                return self.make("sqrt", a)
            if exponent.denominator == 1 and abs(exponent) <= 64:
                positive = self.natural_power(a, abs(int(exponent)))
                return positive if exponent > 0 else self.make("divide", self.make("constant", whole(1)), positive)
        if kind == "constant":
            return self.make("real_power", a, value[0])
        return self.make("exp", self.make("multiply", b, self.make("log", a)))

    def dependences(self, rates):
        """By quantity the states that it depends on at any order."""
        depends = [{q[1]} if q[0] == "state" else set() for q in self.quantities]
        changed = True
        while changed:
            changed = False
            for k, (kind, *operands) in enumerate(self.quantities):
                if kind in ("constant", "time", "sign"):
                    continue
                others = [rates[operands[0]]] if kind == "state" else operands[: OPERANDS.get(kind, 1)]
                more = set().union(*(depends[q] for q in others)) - depends[k]
                if more:
                    depends[k] |= more
                    changed = True
        return depends


def convolution(a, b, k, first, last):
    """The sum of a_l b_(k-l), first <= l <= last, rounded once."""
    low = high = 0
    for l in range(first, last + 1):
        x, y = a[l], b[k - l]
        if x != ZERO and y != ZERO:
            xy = product(x, y)
            low += xy[0]
            high += xy[1]
    return rounded((low, high))


def weighted(a, b, k, last):
    """The sum of l a_l b_(k-l), 1 <= l <= last."""
    return convolution([multiply(whole(l), x) for l, x in enumerate(a[: last + 1])], b, k, 1, last)


class Series:
    """Taylor coefficients over a box of all quantities, and with `derivatives` those of their derivatives by the states."""

    def __init__(self, equations, t, box, order, derivatives=False, still=False):
        self.equations, self.t, self.box = equations, t, box
        quantities = equations.quantities
        self.value = [[] for _ in quantities]
        self.slope = [{j: [] for j in depends} if derivatives else {} for depends in equations.depends]
        for k in range(order + 1):
            for j in range(equations.count):
                self.advance_state(j, k, still)
            if k == order:
                break
            for q in range(equations.count, len(quantities)):
                self.advance(q, k)

    def derivative(self, q, j, k):
        return self.slope[q][j][k] if j in self.slope[q] else ZERO

    def advance_state(self, j, k, still):
        rate = self.equations.rates[j]
        if k == 0:
            self.value[j].append(self.box[j])
            for i, list_of in self.slope[j].items():
                list_of.append(whole(1) if i == j else ZERO)
            return
        self.value[j].append(ZERO if still else part(self.value[rate][k - 1], k))
        for i, list_of in self.slope[j].items():
            list_of.append(ZERO if still else part(self.derivative(rate, i, k - 1), k))

    def advance(self, q, k):
        kind, *operands = self.equations.quantities[q]
        self.value[q].append(getattr(self, "value_of_" + kind)(q, k, *operands))
        for j, list_of in self.slope[q].items():
            list_of.append(getattr(self, "slope_of_" + kind)(q, j, k, *operands))

    def slopes(self, q, j, k):
        """The coefficients of a derivative as a list; of what does not depend on the state: zeros."""
        return self.slope[q][j] if j in self.slope[q] else [ZERO] * (k + 1)

    def value_of_constant(self, _q, k, value):
        return value if k == 0 else ZERO

    def value_of_time(self, _q, k):
        return self.t if k == 0 else whole(1) if k == 1 else ZERO

    def value_of_negate(self, _q, k, a):
        return negative(self.value[a][k])

    def slope_of_negate(self, _q, j, k, a):
        return negative(self.derivative(a, j, k))

    def value_of_add(self, _q, k, a, b):
        return add(self.value[a][k], self.value[b][k])

    def slope_of_add(self, _q, j, k, a, b):
        return add(self.derivative(a, j, k), self.derivative(b, j, k))

    def value_of_subtract(self, _q, k, a, b):
        return subtract(self.value[a][k], self.value[b][k])

    def slope_of_subtract(self, _q, j, k, a, b):
        return subtract(self.derivative(a, j, k), self.derivative(b, j, k))

    def value_of_multiply(self, _q, k, a, b):
        return convolution(self.value[a], self.value[b], k, 0, k)

    def slope_of_multiply(self, _q, j, k, a, b):
        left = convolution(self.slopes(a, j, k), self.value[b], k, 0, k)
        return add(left, convolution(self.value[a], self.slopes(b, j, k), k, 0, k))

    def value_of_square(self, _q, k, a):
        twice = convolution(self.value[a], self.value[a], k, 0, (k + 1) // 2 - 1)
        twice = add(twice, twice)
        return add(twice, square(self.value[a][k // 2])) if k % 2 == 0 else twice

    def slope_of_square(self, _q, j, k, a):
        half = convolution(self.slopes(a, j, k), self.value[a], k, 0, k)
        return add(half, half)

    def value_of_divide(self, q, k, a, b):
        rest = subtract(self.value[a][k], convolution(self.value[b], self.value[q], k, 1, k))
        return divide(rest, self.value[b][0])

    def slope_of_divide(self, q, j, k, a, b):
        rest = subtract(self.derivative(a, j, k), convolution(self.slopes(b, j, k), self.value[q], k, 0, k))
        return divide(subtract(rest, convolution(self.value[b], self.slope[q][j], k, 1, k)), self.value[b][0])

    def slope_sum(self, u, v, j, k):
        """The derivative of the sum of l u_l v_(k-l), 1 <= l <= k."""
        return add(weighted(self.slopes(u, j, k), self.value[v], k, k), weighted(self.value[u], self.slopes(v, j, k), k, k))

    def value_of_exp(self, q, k, a):
        return exp(self.value[a][0]) if k == 0 else part(weighted(self.value[a], self.value[q], k, k), k)

    def slope_of_exp(self, q, j, k, a):
        if k == 0:
            return multiply(self.value[q][0], self.derivative(a, j, 0))
        return part(self.slope_sum(a, q, j, k), k)

    # A function y = F(a) and its partner z, y' = z a', z' = sign y a': the partner is the next quantity.

    def value_of_pair(self, q, k, a, function, _sign):
        if k == 0:
            return FUNCTIONS[function](self.value[a][0])
        return part(weighted(self.value[a], self.value[q + 1], k, k), k)

    def slope_of_pair(self, q, j, k, a, function, _sign):
        if k == 0:
            return multiply(FUNCTIONS[PARTNERS[function]](self.value[a][0]), self.derivative(a, j, 0))
        return part(self.slope_sum(a, q + 1, j, k), k)

    def value_of_partner(self, q, k, a, function, side):
        if k == 0:
            return FUNCTIONS[PARTNERS[function]](self.value[a][0])
        value = part(weighted(self.value[a], self.value[q - 1], k, k), k)
        return value if side > 0 else negative(value)

    def slope_of_partner(self, q, j, k, a, _function, side):
        value = (
            multiply(self.value[q - 1][0], self.derivative(a, j, 0)) if k == 0 else part(self.slope_sum(a, q - 1, j, k), k)
        )
        return value if side > 0 else negative(value)

    def value_of_log(self, q, k, a):
        if k == 0:
            return log(self.value[a][0])
        rest = subtract(multiply(whole(k), self.value[a][k]), weighted(self.value[q], self.value[a], k, k - 1))
        return divide(rest, multiply(whole(k), self.value[a][0]))

    def slope_of_log(self, q, j, k, a):
        if k == 0:
            return divide(self.derivative(a, j, 0), self.value[a][0])
        rest = subtract(multiply(whole(k), self.derivative(a, j, k)), weighted(self.slope[q][j], self.value[a], k, k - 1))
        rest = subtract(rest, weighted(self.value[q], self.slopes(a, j, k), k, k))
        return divide(rest, multiply(whole(k), self.value[a][0]))

    def value_of_sqrt(self, q, k, a):
        if k == 0:
            return sqrt(self.value[a][0])
        twice = convolution(self.value[q], self.value[q], k, 1, (k + 1) // 2 - 1)
        squares = add(twice, twice)
        if k % 2 == 0:
            squares = add(squares, square(self.value[q][k // 2]))
        return divide(subtract(self.value[a][k], squares), multiply(whole(2), self.value[q][0]))

    def slope_of_sqrt(self, q, j, k, a):
        if k == 0:
            return multiply(self.derivative(a, j, 0), divide(part(whole(1), 2), self.value[q][0]))
        half = convolution(self.slope[q][j], self.value[q], k, 0, k - 1)
        return divide(subtract(self.derivative(a, j, k), add(half, half)), multiply(whole(2), self.value[q][0]))

    def value_of_real_power(self, q, k, a, r):
        """y = a^r:  k y_k a_0 = r (sum of l a_l y_(k-l)) - (sum of l y_l a_(k-l), l < k)"""
        if k == 0:
            return exp(multiply(r, log(self.value[a][0])))
        gained = multiply(r, weighted(self.value[a], self.value[q], k, k))
        rest = subtract(gained, weighted(self.value[q], self.value[a], k, k - 1))
        return divide(rest, multiply(whole(k), self.value[a][0]))

    def slope_of_real_power(self, q, j, k, a, r):
        if k == 0:
            less = exp(multiply(subtract(r, whole(1)), log(self.value[a][0])))
            return multiply(multiply(r, less), self.derivative(a, j, 0))
        lost = add(weighted(self.slope[q][j], self.value[a], k, k - 1), weighted(self.value[q], self.slopes(a, j, k), k, k))
        rest = subtract(multiply(r, self.slope_sum(a, q, j, k)), lost)
        return divide(rest, multiply(whole(k), self.value[a][0]))

    def certain(self, difference):
        side = sign(difference)
        if side == 0:
            raise NoProof("a choice (abs, min, max, sign) is not the same everywhere in the set")
        return side

    def value_of_abs(self, _q, k, a):
        return self.value[a][k] if self.certain(self.value[a][0]) > 0 else negative(self.value[a][k])

    def slope_of_abs(self, _q, j, k, a):
        slope = self.derivative(a, j, k)
        return slope if self.certain(self.value[a][0]) > 0 else negative(slope)

    def smaller(self, a, b):
        return a if self.certain(subtract(self.value[b][0], self.value[a][0])) > 0 else b

    def value_of_min(self, _q, k, a, b):
        return self.value[self.smaller(a, b)][k]

    def slope_of_min(self, _q, j, k, a, b):
        return self.derivative(self.smaller(a, b), j, k)

    def value_of_max(self, _q, k, a, b):
        return self.value[b if self.smaller(a, b) == a else a][k]

    def slope_of_max(self, _q, j, k, a, b):
        return self.derivative(b if self.smaller(a, b) == a else a, j, k)

    def value_of_sign(self, _q, k, a):
        return whole(self.certain(self.value[a][0])) if k == 0 else ZERO

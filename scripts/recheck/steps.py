"""Steps of proofs: what they claim, shown again."""

import fractions

from recheck.intervals import (
    ONE, ZERO, NoProof, add, box_of, common, contains, hull, interval, matrix, multiply, negative, number, point,
    product, rounded, sign, subtract, whole,
)
from recheck.series import Series


def expect(holds, what):
    if not holds:
        raise NoProof(what)


def power(a, n):
    """a^n of times: squares are not negative."""
    if n == 0:
        return whole(1)
    half = power(a, n // 2)
    low = 0 if half[0] <= 0 <= half[1] else min(abs(half[0]), abs(half[1]))
    even = rounded((low * low, max(abs(half[0]), abs(half[1])) ** 2))
    return even if n % 2 == 0 else multiply(even, a)


def horner(coefficients, tau):
    total = ZERO
    for coefficient in reversed(coefficients):
        total = add(multiply(total, tau), coefficient)
    return total


def matrix_product(a, b):
    columns = list(zip(*b))
    return [[dot(row, column) for column in columns] for row in a]


def dot(a, b):
    low = high = 0
    for x, y in zip(a, b):
        if x != ZERO and y != ZERO:
            xy = product(x, y)
            low, high = low + xy[0], high + xy[1]
    return rounded((low, high))


def apply(a, x):
    return [dot(row, x) for row in a]


def plus(*boxes):
    total = boxes[0]
    for box in boxes[1:]:
        total = [add(x, y) for x, y in zip(total, box)]
    return total


def minus(a, b):
    return [subtract(x, y) for x, y in zip(a, b)]


def meet(*boxes):
    total = boxes[0]
    for box in boxes[1:]:
        total = [common(x, y) for x, y in zip(total, box)]
    return total


def inverse(points):
    """Of a matrix of points: exact, its entries rounded outward."""
    n = len(points)
    rows = [[fractions.Fraction(x[0], ONE) for x in row] + [fractions.Fraction(i == j) for j in range(n)] for i, row in enumerate(points)]
    for i in range(n):
        pivot = next((k for k in range(i, n) if rows[k][i] != 0), None)
        expect(pivot is not None, "the frame is singular")
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i])]
    return [[(x.numerator * ONE // x.denominator, -(-x.numerator * ONE // x.denominator)) for x in row[n:]] for row in rows]


class Set:
    """{x + C r0 + Q r} within a box."""

    def __init__(self, given):
        self.x = [point(x) for x in given["x"]]
        self.C, self.Q = matrix(given["C"]), matrix(given["Q"])
        self.r0, self.r, self.box = box_of(given["r0"]), box_of(given["r"]), box_of(given["box"])

    def image(self, F, J):
        """F + J (C r0 + Q r)"""
        return plus(F, apply(matrix_product(J, self.C), self.r0), apply(matrix_product(J, self.Q), self.r))

    def points(self):
        return plus(self.x, apply(self.C, self.r0), apply(self.Q, self.r))


class Step:
    """The series of one step and what is made of them at times tau after its start."""

    def __init__(self, equations, order, given):
        self.equations, self.order, self.n = equations, order, equations.count
        self.t = number(given["t"])
        self.set = Set(given["before"])
        start = (self.t, self.t)
        box = [hull(b, x) for b, x in zip(self.set.box, self.set.x)]
        self.centre = Series(equations, start, self.set.x, order)
        self.all = Series(equations, start, box, order + 1, derivatives=True)
        self.prove((0, number(given["proved"]) - self.t), box_of(given["V"]))

    def prove(self, times, V):
        """R, coefficient K + 1 over Z, is in the interior of V: the solutions exist and stay in Z."""
        K = self.order
        last = power(times, K + 1)
        self.Z = [add(horner(self.all.value[i][: K + 1], times), multiply(V[i], last)) for i in range(self.n)]
        tube = Series(self.equations, add((self.t, self.t), times), self.Z, K + 1)
        self.R = [tube.value[i][K + 1] for i in range(self.n)]
        self.last_of_outputs = [tube.value[q][K] for q in self.equations.outputs]
        for i in range(self.n):
            expect(V[i][0] < self.R[i][0] and self.R[i][1] < V[i][1], f"R is not inside of V in state {i}")
        self.keep_zeros(times)

    def keep_zeros(self, times):
        """States whose polynomials are 0 stay 0 if their rates are 0 wherever all of them are."""
        zeros = {i for i in range(self.n) if horner(self.all.value[i][: self.order + 1], times) == (0, 0)}
        moved = zeros
        while zeros and moved:
            Z = [(0, 0) if i in zeros else self.Z[i] for i in range(self.n)]
            rates = Series(self.equations, add((self.t, self.t), times), Z, 1)
            moved = {i for i in zeros if rates.value[i][1] != (0, 0)}
            zeros -= moved
        for i in zeros:
            self.Z[i] = self.R[i] = (0, 0)

    def remainder(self, tau):
        last = power(tau, self.order + 1)
        return [multiply(r, last) for r in self.R]

    def box_at(self, tau):
        """All members, from the series over the box."""
        K = self.order
        box = plus([horner(self.all.value[i][: K + 1], tau) for i in range(self.n)], self.remainder(tau))
        box = meet(box, self.Z)
        if self.equations.dependents:
            values = Series(self.equations, add((self.t, self.t), tau), box, 1, still=True)
            for state, q in self.equations.dependents:
                box[state] = common(box[state], values.value[q][0])
        return box

    def map_at(self, tau):
        """F and J with x(tau) in F + J (x - centre) for all members x."""
        K = self.order
        F = plus([horner(self.centre.value[i][: K + 1], tau) for i in range(self.n)], self.remainder(tau))
        J = [[horner([self.all.derivative(i, j, k) for k in range(K + 1)], tau) for j in range(self.n)] for i in range(self.n)]
        return self.completed(tau, F, J)

    def completed(self, tau, F, J):
        """States that others give are e(t, x)."""
        if not self.equations.dependents:
            return F, J
        t = add((self.t, self.t), tau)
        values = Series(self.equations, t, F, 1, still=True)
        everywhere = [hull(a, b) for a, b in zip(self.box_at(tau), F)]
        slopes = Series(self.equations, t, everywhere, 1, derivatives=True, still=True)
        for state, q in self.equations.dependents:
            F[state] = values.value[q][0]
            J[state] = [dot([slopes.derivative(q, i, 0) for i in range(self.n)], [J[i][j] for i in range(self.n)]) for j in range(self.n)]
        return F, J

    def show_row(self, row):
        tau = (number(row["t"]) - self.t,) * 2
        inside = meet(self.set.image(*self.map_at(tau)), self.box_at(tau))
        for i, (known, claimed) in enumerate(zip(inside, box_of(row["box"]))):
            expect(contains(claimed, known), f"the row at t = {float.fromhex(row['t'])} misses members in state {i}")

    def show_image(self, given):
        """The members are in the set after the step, by the same r0 or by those of a set that was reorganized."""
        tau = (number(given["until"]) - self.t,) * 2
        expect(number(given["until"]) <= number(given["proved"]), "the set is moved further than was proved")
        F, J = self.map_at(tau)
        before, after, linear = self.set, Set(given["after"]), matrix(given["linear"])
        JC, JQ = matrix_product(J, before.C), matrix_product(J, before.Q)
        of_frame = inverse(after.Q)
        change = [[subtract(a, b) for a, b in zip(row, other)] for row, other in zip(JC, linear)]
        added = plus(minus(F, after.x), apply(change, before.r0))
        r = plus(apply(matrix_product(of_frame, JQ), before.r), apply(of_frame, added))
        if given["after"]["r0"] == given["before"]["r0"] and after.C == linear:
            for i in range(self.n):
                expect(contains(after.r[i], r[i]), f"the frame misses members in direction {i}")
        else:
            self.show_reorganized(after, linear, of_frame, r)
        inside = meet(before.image(F, J), self.box_at(tau), after.points())
        for i in range(self.n):
            expect(contains(after.box[i], inside[i]), f"the box after the step misses members in state {i}")

    def show_reorganized(self, after, linear, of_frame, r):
        """x' + C' r0' + Q' r': a column of C' is that of the image, and keeps r0, or that of Q'. What the other columns of the
        image were, and r, is in r' of a kept column, or in r0' where it is the frame's."""
        def column(A, i):
            return [row[i] for row in A]

        kept = [column(after.C, i) == column(linear, i) for i in range(self.n)]
        moving = [[ZERO if kept[j] else x for j, x in enumerate(row)] for row in linear]
        added = apply(matrix_product(of_frame, moving), self.set.r0)
        for i in range(self.n):
            start = self.set.r0[i] if kept[i] else ZERO
            in_frame = plus([r[i]], [added[i]])[0]
            together = column(after.C, i) == column(after.Q, i) and contains(after.r0[i], plus([start], [in_frame])[0])
            apart = kept[i] and contains(after.r0[i], start) and contains(after.r[i], in_frame)
            expect(together or apart, f"the reorganized set misses members in {i}")

    def output(self, k, order, tau, side):
        """side times the derivative number `order` by time of an output, of all members."""
        K, q = self.order, self.equations.outputs[k]

        def falling(n):
            result = 1
            for l in range(order):
                result *= n - l
            return result

        def polynomial(coefficients):
            return horner([multiply(whole(falling(n)), coefficients[n]) for n in range(order, K)], tau)

        rest = multiply(multiply(whole(falling(K)), self.last_of_outputs[k]), power(tau, K - order))
        plain = add(polynomial(self.all.value[q]), rest)
        slopes = [polynomial([self.all.derivative(q, j, n) for n in range(K)]) for j in range(self.n)]
        spread = add(dot(matrix_product([slopes], self.set.C)[0], self.set.r0), dot(matrix_product([slopes], self.set.Q)[0], self.set.r))
        both = common(plain, add(add(polynomial(self.centre.value[q]), spread), rest))
        return both if side > 0 else negative(both)

    def show_gap(self, tau, gap):
        """What was concluded of a gap m over these times: see the trends of monitors."""
        k, side, before, after = gap

        def is_positive(order):
            return sign(self.output(k, order, tau, side)) > 0

        def is_negative(order):
            return sign(self.output(k, order, tau, side)) < 0

        shown = {
            "bending": lambda: before == "bending" and is_positive(2),
            "rising": lambda: before in ("bending", "rising") and is_positive(1),
            "positive": lambda: is_positive(0) or (before == "positive" and is_positive(1)),
            "falling": lambda: before in ("positive", "falling") and is_negative(1),
        }[after]()
        expect(shown, f"gap {k} over tau in [{float(tau[0] / ONE):.6g}, {float(tau[1] / ONE):.6g}]: {before} to {after}")

    def show_gaps(self, given):
        reached, last = 0, None
        for piece in given["slices"]:
            tau = interval(piece["tau"])
            expect(tau[0] <= reached, "times between the slices of gaps are not covered")
            expect(last is None or [g[:3] for g in piece["gaps"]] == last, "trends of gaps change between slices")
            for gap in piece["gaps"]:
                self.show_gap(tau, gap)
            reached, last = tau[1], [[g[0], g[1], g[3]] for g in piece["gaps"]]
        if self.equations.outputs and (given["slices"] and given["slices"][0]["gaps"]):
            expect(number(given["until"]) - self.t <= reached, "gaps are not watched to the end of the step")


def show_start(start, given):
    """The first set holds the start: x + r0."""
    first = Set(given["before"])
    expect(first.C == [[whole(int(i == j)) for j in range(len(start))] for i in range(len(start))], "the first set is turned")
    for i, side in enumerate(start):
        expect(contains(first.r0[i], subtract(side, first.x[i])) and contains(first.box[i], side), f"the start is missed in state {i}")


def show_step(equations, order, given):
    step = Step(equations, order, given)
    step.show_image(given)
    step.show_gaps(given)
    for row in given["rows"]:
        step.show_row(row)

#!/usr/bin/env python3
"""Random models of the kinds that enclosures are for, held against the located scheme at points of their sets.

    enclosure_campaign.py PERP [--seed N] [--count N] [--members N] [--keep DIR]

Every model is made with variables, parameters and time in random units (powers of two and of ten). Of each the set is enclosed, and
random members of it are run by `located` at tol 1e-12: each must lie in one row of its time (to 1e-9 of its size). A miss is an error
(exit status 1); models that are lost, or much wider than the hull of the members, are listed. --keep: the files of what is listed.
"""

import argparse
import csv
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from decimal import Decimal


def number(x):
    """A decimal that is this double exactly enough to be read as the same member by both."""
    return repr(float(x))


class Model:
    """Variables x (name: start or interval), parameters, equations in units of its own."""

    def __init__(self, rng, kind):
        self.rng, self.kind = rng, kind
        self.x, self.algebraic, self.p, self.equations, self.when, self.laws = {}, {}, {}, [], [], []
        self.end = 4.0

    def interval(self, value, share):
        width = abs(value) * share if value else share
        return (value - width, value + width) if self.rng.random() < 0.6 else (value, value)


def r(rng, a, b):
    return round(rng.uniform(a, b), 3)


def relay(m, rng):
    a, k, c = r(rng, 0.5, 3), r(rng, 0.1, 0.8), r(rng, -0.3, 0.3)
    law = rng.choice(["sign(s)", "if(s > 0, 1, -1)", "(2*step(s) - 1)", "max(min(20*s, 1), -1)", "if(s > 0.2, 1, if(s < -0.2, -1, 0))"])
    arg = rng.choice([f"(x - {c})", f"(x + {k}*v)", f"(v + {k}*x)"])
    m.x = {"x": m.interval(r(rng, 0.5, 2), 0.005), "v": m.interval(r(rng, -1, 1), 0.005)}
    m.p = {"a": m.interval(a, 0.003)}
    m.equations = ["der(x) = v", f"der(v) = -{k}*v - a*{law.replace('s', arg, 1) if law != 'if(s > 0.2, 1, if(s < -0.2, -1, 0))' else law.replace('(s', '(' + arg)}"]
    m.equations[1] = m.equations[1].replace("max(min(20*s", "max(min(20*" + arg)
    if law.startswith("sign"):
        m.equations[1] = f"der(v) = -{k}*v - a*sign({arg})"
    if law.startswith("max"):
        m.equations[1] = f"der(v) = -{k}*v - a*max(min(20*{arg}, 1), -1)"
    if law.startswith("(2"):
        m.equations[1] = f"der(v) = -{k}*v - a*(2*step({arg}) - 1)"
    m.end = 6.0


def friction(m, rng):
    mu, w = r(rng, 0.3, 1.5), r(rng, 0.7, 2.5)
    m.x = {"x": m.interval(r(rng, -2, 2), 0.004), "v": m.interval(r(rng, -1, 1), 0.004)}
    m.p = {"mu": m.interval(mu, 0.003), "A": m.interval(r(rng, 0.5, 2), 0.003)}
    m.equations = ["der(x) = v", f"der(v) = -{r(rng, 0.2, 2)}*x - {r(rng, 0.05, 0.3)}*v - mu*sign(v - {rng.choice([0, 0.3])}) + A*sin({w}*t)"]
    m.end = 6.0


def chain(m, rng):
    m.x = {"x": m.interval(r(rng, 0.5, 2), 0.003), "v": m.interval(0.5, 0.003), "y": m.interval(r(rng, -1, 0), 0.003), "u": (-0.2, -0.2)}
    m.p = {"mu": m.interval(r(rng, 0.05, 0.2), 0.003), "nu": m.interval(r(rng, 0.05, 0.2), 0.003)}
    m.equations = ["der(x) = v", "der(v) = -x + (y - x) - mu*sign(v - u)", "der(y) = u", "der(u) = (x - y) - y + mu*sign(v - u) - nu*sign(u)"]


def surface(m, rng):
    shape = rng.choice(["x^2 + y^2 - 1", "y - 0.5*x^2", "x*y - 0.5", "x + y - 1"])
    m.x = {"x": m.interval(r(rng, 1.2, 2), 0.004), "y": m.interval(r(rng, 0.5, 1.5), 0.004)}
    m.p = {"a": m.interval(r(rng, 1, 2), 0.003)}
    m.equations = [f"der(x) = -{r(rng, 0.2, 0.8)}*y - a*x*sign({shape})", f"der(y) = {r(rng, 0.2, 0.8)}*x - a*y*sign({shape})"]
    m.end = 3.0


def reset(m, rng):
    m.x = {"h": m.interval(r(rng, 0.5, 2), 0.003), "v": m.interval(r(rng, -1, 1), 0.003)}
    m.p = {"e": m.interval(r(rng, 0.6, 0.95), 0.002), "g": m.interval(r(rng, 1, 10), 0.002)}
    m.equations = ["der(h) = v", f"der(v) = -g - {r(rng, 0, 0.2)}*v"]
    m.when = [("h", -1, {"v": "-e*v"})]
    m.end = 1.0


def implicit(m, rng):
    eq, y = rng.choice([("y + {a}*y^3 = x", 0.5), ("exp(y) + {a}*y = x + 2", 0.5), ("y + {a}*sin(y) = x", 0.5), ("y*abs(y) + y = x", 0.5),
                        ("y^2 = x + 3", 1.8), ("y^3 + {a}*y = x + {a}*sign(x - 0.3)", 0.6)])
    m.x = {"x": m.interval(r(rng, 0.5, 2), 0.004)}
    m.algebraic = {"y": y}
    rhs = rng.choice(["-y", "-y + 0.5*sin(2*t)", "-y - 0.4*sign(x - 0.2)", "-x + 0.3*y", "-y - 0.8*sign(y - 0.1)"])
    m.equations = [f"der(x) = {rhs}", eq.format(a=r(rng, 0.2, 0.8))]
    m.end = 3.0


def coupled(m, rng):
    m.x = {"x": m.interval(r(rng, 0.5, 2), 0.003)}
    m.algebraic = {"y": 0.5, "z": 0.3}
    m.equations = [f"der(x) = -y + {r(rng, 0, 0.5)}*z" + rng.choice(["", " - 0.5*sign(x - 0.4)"]), f"y + y^3 + {r(rng, 0.1, 0.4)}*z = x", f"z + exp(z) = 2 - {r(rng, 0.1, 1)}*y"]
    m.end = 3.0


def implied_rate(m, rng):
    m.x = {"x": m.interval(r(rng, 0.5, 2), 0.003)}
    m.equations = [f"der(x) + {r(rng, 0.1, 1)}*der(x)^3 = -x + {r(rng, 0, 1)}*sin(t)" + rng.choice(["", " - 0.4*sign(x - 0.2)"])]
    m.end = 3.0


def index2(m, rng):
    b1, b2 = rng.choice([(-0.5, 1.0), (-1.0, 0.5), (-0.4, 0.8)])
    m.x = {"x": m.interval(-r(rng, 1, 4), 0.0), "w": (0.0, 0.0)}
    x = m.x["x"][0]
    m.x["w"] = (-x - 1, -x - 1)
    m.algebraic = {"z": 0.0}
    m.p = {"b": m.interval(b2, 0.003)}
    m.equations = [f"der(x) = 1 + {b1}*z", "der(w) = b*z", "w = abs(x) + sign(x)"]
    if rng.random() < 0.5:
        m.x["q"], m.x["s"] = m.interval(1.0, 0.002), (0.0, 0.0)
        m.equations += ["der(q) = s", f"der(s) = -q - {r(rng, 0.2, 0.6)}*sign(s) + 0.1*x"]
    m.end = 1.5 * abs(x)


def clock(m, rng):
    m.x = {"x": m.interval(r(rng, -1, 1), 0.01)}
    m.p = {"k": m.interval(r(rng, 0.5, 2), 0.003)}
    m.equations = [f"der(x) = -k*x + {rng.choice(['sign(sin(3*t))', 'if(t < 1, 1, -0.5)', 'abs(cos(2*t))', 'step(t - 1)*x'])}" + rng.choice(["", " - 0.6*sign(x - 0.3)"])]
    m.end = 4.0


def hysteresis(m, rng):
    m.x = {"T": m.interval(r(rng, 18, 23), 0.001)}
    m.p = {"q": m.interval(r(rng, 2, 5), 0.002)}
    m.laws = ["y in hysteresis(T, 20, 22)"]
    m.equations = [f"der(T) = -{r(rng, 0.1, 0.3)}*(T - 10) + q*(1 - y)"]
    m.end = 5.0


KINDS = [relay, friction, chain, surface, reset, implicit, coupled, implied_rate, index2, clock, hysteresis]


def text(m, values=None):
    """The model file; `values` are those of a member."""
    def entry(name, ends):
        if values is not None:
            return f"{name} = {values[name]}"
        return f"{name} = {number(ends[0])}" if ends[0] == ends[1] else f'{name} = "[{number(ends[0])}, {number(ends[1])}]"'
    lines = ["[parameters]"] + [entry(k, v) for k, v in m.p.items()] + ["[variables]"] + [entry(k, v) for k, v in m.x.items()]
    lines += [f"{k} = {number(v)}" for k, v in m.algebraic.items()] + ["[model]"]
    if m.laws:
        lines.append("laws = [" + ", ".join(f'"{law}"' for law in m.laws) + "]")
    lines.append("equations = [" + ", ".join(f'"{e}"' for e in m.equations) + "]")
    if m.when:
        condition, direction, values_set = m.when[0]
        sets = ", ".join(f'{k} = "{v}"' for k, v in values_set.items())
        lines.append(f'when = [{{ condition = "{condition}", direction = {direction}, set = {{ {sets} }} }}]')
    return "\n".join(lines + ["[run]", f"t = [0, {Decimal(m.end):f}]", f"h = {number(m.end / 8)}"]) + "\n"


def rescale(m, rng):
    """Units of time, and of states where no function takes them: x = u X."""
    import re
    unit = rng.choice([1.0, 2.0 ** rng.randint(-12, 12), 10.0 ** rng.randint(-3, 3)])
    if unit != 1.0 and m.kind not in ("reset", "hysteresis"):
        # t = unit·τ; every der(x) of old time is der(x)/unit of the new one
        sub = lambda s: re.sub(r"(?<![a-zA-Z_])t(?![a-zA-Z_])", f"(t/{number(unit)})", re.sub(r"der\((\w+)\)", rf"({number(unit)}*der(\1))", s))
        m.equations = [sub(e) for e in m.equations]
        m.end *= unit
    scale = {k: rng.choice([1.0, 2.0 ** rng.randint(-10, 10), 10.0 ** rng.randint(-3, 3)]) for k in m.x} if rng.random() < 0.5 else {}
    for k, s in scale.items():
        if s == 1.0 or m.when or m.laws:
            continue
        pattern = rf"(?<![a-zA-Z_0-9.]){k}(?![a-zA-Z_0-9(])"
        m.equations = [re.sub(pattern, f"({k}/{number(s)})", re.sub(rf"der\({k}\)", f"(der_{k}/{number(s)})", e)).replace(f"der_{k}", f"der({k})") for e in m.equations]
        m.x[k] = (m.x[k][0] * s, m.x[k][1] * s)
    mantissa, exponent = math.frexp(m.end)  # a double that a short decimal is
    m.end = math.ldexp(round(mantissa * 64), exponent - 6)


def member(m, rng):
    pick = lambda ends: ends[0] + rng.choice([0, 1, 0.5, rng.random()]) * (ends[1] - ends[0])
    return {k: number(min(max(pick(v), v[0]), v[1])) for k, v in {**m.p, **m.x}.items()}


def rows_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def misses(rows, run, members_hull, starts):
    """The worst distance of the run's rows from the rows of their times, beside the sizes of the columns; and the widths seen."""
    worst = 0.0
    for line in run:
        t = float(line["t"])
        here = [row for row in rows if float(row["t"]) == t]
        if not here:
            continue
        columns = [c[:-3] for c in rows[0] if c.endswith("_lo") and c[:-3] in line]
        for c in columns:
            low, high = members_hull.get((t, c), (float("inf"), float("-inf")))
            members_hull[t, c] = (min(low, float(line[c])), max(high, float(line[c])))
        # What is 0 wherever the run was asked is rounding in the other scheme: a velocity at rest, the multiplier of a sign, of size 1.
        least = {c: max(map(abs, starts.get(c, (1e-300,)))) for c in columns}
        size = {c: max(1.0 if c.startswith("lambda") else least[c], *(abs(float(other[c])) for other in run)) for c in columns}
        distance = min(max((max(float(row[c + "_lo"]) - float(line[c]), float(line[c]) - float(row[c + "_hi"]), 0) / size[c]
                            for c in columns), default=0) for row in here)
        worst = max(worst, distance)
    return worst


def try_model(perp, m, rng, members, folder):
    """(word, note): ok, miss, lost, wide, skipped."""
    (folder / "set.toml").write_text(text(m))
    times = [m.end * k / 8 for k in range(1, 9)]
    option = ",".join(number(t) for t in times)
    made = subprocess.run([perp, "enclose", folder / "set.toml", "--times", option, "-o", folder / "set.csv", "--threads", "1"],
                          capture_output=True, text=True, timeout=120)
    if made.returncode == 2:
        return "refused", made.stderr.strip()[-200:]
    rows = rows_of(folder / "set.csv")
    if not rows:
        return "lost", made.stderr.strip()[-250:]
    hull = {}
    runs = 0
    for _ in range(members):
        (folder / "point.toml").write_text(text(m, member(m, rng)))
        run = subprocess.run([perp, "run", folder / "point.toml", "--scheme", "located", "--tol", "1e-12", "--times", option, "-o",
                              folder / "point.csv"], capture_output=True, text=True)
        if run.returncode or "first order" in run.stdout:
            continue
        runs += 1
        distance = misses(rows, rows_of(folder / "point.csv"), hull, m.x)
        if distance > 1e-9:
            return "miss", f"{distance:.1e}: {made.stdout[-300:]}"
    if made.returncode:
        return "lost", made.stderr.strip()[-250:]
    ratio = 0.0
    for (t, c), (low, high) in hull.items():
        width = max(float(row[c + "_hi"]) for row in rows if float(row["t"]) == t) - min(float(row[c + "_lo"]) for row in rows if float(row["t"]) == t)
        largest = max(h - l for (s, d), (l, h) in hull.items() if d == c)
        size = max(max(abs(l), abs(h)) for (s, d), (l, h) in hull.items() if d == c)
        if runs >= 6 and size and c in m.x:
            ratio = max(ratio, (width - 1e-8 * size) / max(high - low + 0.05 * largest, 1e-300 + 1e-8 * size))
    flags = {row["flag"] for row in rows}
    if ratio > 5 or flags != {"unique"}:
        return "wide", f"ratio {ratio:.2g}, flags {sorted(flags)}"
    return ("ok", "") if runs else ("skipped", "no run of a member")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perp")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--kind", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    counts = {}
    for k in range(options.count):
        rng = random.Random(options.seed * 1_000_003 + k)
        kind = KINDS[k % len(KINDS)]
        m = Model(rng, kind.__name__)
        kind(m, rng)
        rescale(m, rng)
        if options.kind and options.kind != kind.__name__:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            try:
                word, note = try_model(options.perp, m, rng, options.members, folder)
            except subprocess.TimeoutExpired:
                word, note = "slow", "120 s"
        counts[word] = counts.get(word, 0) + 1
        if word != "ok":
            print(f"{word:8} {k:4} {kind.__name__}: {note}".replace("\n", " | "), flush=True)
            if options.keep:
                (options.keep / f"{options.seed}_{k}_{kind.__name__}.toml").write_text(text(m))
    print(" ".join(f"{word} {count}" for word, count in sorted(counts.items())))
    return 1 if counts.get("miss") else 0


if __name__ == "__main__":
    sys.exit(main())

"""Figures 2 and 3 of [RAB]: for which B solutions go on, and what Filippov's convexification makes of them."""

import json
import re
from fractions import Fraction

from cones import cone, is_inside, opposite
from pictures import COLOURS, Panel, Series, draw, line
from program import Failed
from switching_dae import SLIDING_CROSSING, SLIDING_REPULSIVE

RED, GREEN = COLOURS[1], COLOURS[2]
MODEL = "switching_dae_crossing"
GRID = 41  # values of B1 and of B2 from -2 to 2
ROWS = {1: (1, 1), 2: (1, -1), 3: (1, 0)}  # C_i: the constraint of mode i is C_i (x1, x2) = a constant
CONSTRAINT = [(-3, 2), (0, -1), (0, 1), (3, 4)]

# The reduced equations of the two sides, eqs. (15) and (16), without the constraint; their sliding is Filippov's.
REDUCED = """name = "reduced equations of the switching DAE"
[parameters]
B1 = -1.0
B2 = 0.5
[variables]
x1 = -1
x2 = 0
[model]
equations = [
  "der(x1) = if(x1 < 0, B2/(B1 + B2), -B2/(B1 - B2))",
  "der(x2) = if(x1 < 0, -B2/(B1 + B2), -B2/(B1 - B2))",
]
[run]
t = [0, 3]
h = 0.125
"""


def figure_2(program, report):
    report.text(
        "## Figure 2: where continuous solutions go on",
        """(a): the solutions for B = (-0.5, 1), sliding-crossing, and the two that start at A- = (0, -1) for
        B = (-1, 0.5), sliding-repulsive. (b): the cones of Proposition 2. Their borders are the lines on which one of
        C1 B, C3 B or B2 is 0, with the rows C_1 = (1, 1), C_2 = (1, -1), C_3 = (1, 0) of the constraint in each mode; the corners are exact.
        `perp map` asks at A- for each B of a grid how many continuous solutions start there: one where B is in a cone
        of sliding-crossing solutions, two in one of sliding-repulsive ones.""",
    )
    text = report.number("figure 2: largest distance of |C_i B| from perp check", furthest_row(program))
    report.text(f"The sizes of C_i B that `perp check` tells are those of these rows up to {text}.")
    cones = proposition_2()
    wrong, counted = disagreements(program, cones)
    table = [[name, report.number(f"figure 2, {name}: points of the grid inside", counted[name]),
              report.number(f"figure 2, {name}: points with another number of solutions", wrong[name])] for name in cones]
    report.table(["cone", "points of the grid inside", "with another number of solutions"], table)
    for name, sides in cones.items():
        program.write(f"figure02_{name}.csv", ["cone", "B1", "B2"],
                      [(k, str(x), str(y)) for k, normals in enumerate(sides, 1) for x, y in cone(normals)])
    draw(program.folder, "figure02", [solutions(program, report), plane(cones)], columns=2, size=(620, 560))
    report.picture("figure02.png", "Figure 2: solutions and the cones of B")
    report.commands(program.told())


def furthest_row(program):
    """How far |C_i B| of `perp check` is from that of the rows, over some B."""
    furthest = 0.0
    for b1, b2 in ((1, 0), (3, 1), (1, -2), (-2, 5)):
        done = program.call("check", MODEL, "--set", f"B1={b1}", "--set", f"B2={b2}")
        found = {int(i): float(size) for i, size in re.findall(r"^ +\d+ +mode (\d) .*index \d +(\S+) ", done.stdout, re.MULTILINE)}
        if found.keys() != ROWS.keys():
            raise Failed(f"perp check tells the sizes of C_i B of modes {sorted(found)}, not of 1, 2, 3")
        furthest = max([furthest, *(abs(found[i] - abs(x * b1 + y * b2)) for i, (x, y) in ROWS.items())])
    return furthest


def proposition_2():
    """The half-planes of each cone: B2 and C3 B of different signs, B2 C1 B > 0 or < 0."""
    c1, c3, b2 = ROWS[1], ROWS[3], (0, 1)
    minus = [opposite([normal])[0] for normal in (c1, c3)]
    crossing, repulsive = [b2, c1, minus[1]], [b2, minus[0], minus[1]]
    return {"sliding-crossing": [crossing, opposite(crossing)], "sliding-repulsive": [repulsive, opposite(repulsive)]}


def disagreements(program, cones):
    """Of the points of the grid inside of each cone: how many have another number of solutions, and how many there are."""
    program.call("map", MODEL, "--vary", f"B1=-2:2:{GRID}", "--vary", f"B2=-2:2:{GRID}", "--what", "ac",
                 "--at", "x1=0,x2=-1", "-o", "runs/figure02_map.csv")
    expected = {"sliding-crossing": "unique", "sliding-repulsive": "several (2)"}
    wrong, counted = dict.fromkeys(cones, 0), dict.fromkeys(cones, 0)
    for row in program.rows("runs/figure02_map.csv"):
        for name, sides in cones.items():
            if any(is_inside((Fraction(row["B1"]), Fraction(row["B2"])), normals) for normals in sides):
                counted[name] += 1
                wrong[name] += row["region"] != expected[name]
    return wrong, counted


def solutions(program, report):
    """The phase picture of (a)."""
    crossing = program.run(MODEL, {"x1": -2.0, "x2": 1.0}, "figure02_crossing.csv", "--scheme", "located", "--t", "0,5", split=True)
    left, right = repulsive(program, report)
    series = [
        line("constraint", CONSTRAINT, "#cccccc", dash=2),
        line("sliding-crossing", pairs(crossing), GREEN, width=3),
        line("sliding-repulsive", left, RED, dash=3, width=3),
        line("", right, RED, dash=3, width=3),
    ]
    settings = ["set xrange [-3:3]", "set yrange [-2:4]", "set label 1 'A-' at -0.45,-1.25", "set label 2 'A+' at -0.45,1.1"]
    return Panel("(a) solutions", "x1", "x2", series, settings, key="top left")


STEP = 0.125
AT_A = "x1=0,x2=-1"


def repulsive(program, report):
    """The two solutions that start at A-: each step that `perp solutions` lists, and the run from its end."""
    values = [part for name, value in SLIDING_REPULSIVE.items() for part in ("--set", f"{name}={value}")]
    done = program.call("solutions", MODEL, *values, "--at", AT_A, "--h", STEP, "--json")
    ends = sorted(tuple(solution["x"][:2]) for solution in json.loads(done.stdout)["solutions"])
    if len(ends) != 2:
        raise Failed(f"{len(ends)} solutions of the first step from A- were found, not 2")
    # Section 3.1: x1' = B2/(B1 + B2) in mode 1, x2' = -B2/B1 in mode 3 until it is 1.
    exact = {"left": lambda t: (-t, t - 1), "right": lambda t: (0.0, t / 2 - 1)}
    paths = []
    for side, (x1, x2) in zip(exact, ends):
        start = {**SLIDING_REPULSIVE, "x1": x1, "x2": x2}
        rows = program.run(MODEL, start, f"figure02_{side}.csv", "--h", STEP, "--t", f"{STEP},2.5")
        error = max(abs(x - e) for row in rows for x, e in zip((row["x1"], row["x2"]), exact[side](row["t"])))
        report.text(f"From A- {side}wards: largest error {report.number(f'figure 2, from A- to the {side}: largest error', error)}.")
        paths.append([(0.0, -1.0), *pairs(rows)])
    return paths


def pairs(rows):
    return [(row["x1"], row["x2"]) for row in rows]


def plane(cones):
    """The cones of (b)."""
    series = []
    for colour, (name, sides) in zip((GREEN, RED), cones.items()):
        for k, normals in enumerate(sides):
            corners = [(float(x), float(y)) for x, y in cone(normals)]
            series.append(Series(name if k == 0 else "", corners, f"filledcurves closed fc rgb '{colour}' fs transparent solid 0.35 noborder"))
    for name, B in (("B = (-0.5, 1)", SLIDING_CROSSING), ("B = (-1, 0.5)", SLIDING_REPULSIVE)):
        series.append(Series(name, [(B["B1"], B["B2"])], "points pt 7 ps 1.2 lc rgb '#333333'" if B is SLIDING_CROSSING
                             else "points pt 5 ps 1.2 lc rgb '#333333'"))
    settings = ["unset label", "set xrange [-2:2]", "set yrange [-2:2]", "set xzeroaxis lt 1 lc rgb '#666666'", "set yzeroaxis lt 1 lc rgb '#666666'"]
    return Panel("(b) the cones of B", "B1", "B2", series, settings, key="outside bottom center horizontal")


def figure_3(program, report):
    report.text(
        "## Figure 3: Filippov's solutions of the reduced equations",
        """Index reduction leaves x' = f-(x) for x1 < 0 and f+(x) for x1 > 0. Filippov's hull of the two meets the
        surface x1 = 0 for B = (-1, 0.5), with the rate of the sliding solution that perp has of the DAE; for
        B = (-0.5, 1) it does not: solutions of the reduced equations cross at once, and leave the constraint.""",
    )
    (program.folder / "reduced.toml").write_text(REDUCED, encoding="utf-8")
    panels = [hull_panel(program, report, "(a)", "sliding-crossing", SLIDING_CROSSING, RED),
              hull_panel(program, report, "(b)", "sliding-repulsive", SLIDING_REPULSIVE, GREEN)]
    draw(program.folder, "figure03", panels, columns=2, size=(620, 520))
    report.picture("figure03.png", "Figure 3: the reduced equations, their hull, and the solutions")
    report.commands(program.told())


def rate(program, B, x, file):
    """The rates that the reduced equations have at x, from one step of a run."""
    rows = program.run("reduced.toml", {**B, "x1": x[0], "x2": x[1]}, file, "--t", "0,0.125")
    return tuple((rows[-1][name] - rows[0][name]) / (rows[-1]["t"] - rows[0]["t"]) for name in ("x1", "x2"))


def reduced_from_surface(program, report, name, B):
    """The solutions of the reduced equations that start on the surface: one step, whose rates are constant."""
    values = [part for key, value in B.items() for part in ("--set", f"{key}={value}")]
    done = program.call("solutions", "reduced.toml", *values, "--at", AT_A, "--h", 1.5, "--json")
    ends = sorted(tuple(solution["x"][:2]) for solution in json.loads(done.stdout)["solutions"])
    sliding = [(x2 + 1) / 1.5 for x1, x2 in ends if x1 == 0]
    if len(sliding) != 1:
        raise Failed(f"the reduced equations have {len(sliding)} solutions on the surface, not 1")
    report.number(f"figure 3, {name}: sliding rate of the reduced equations", sliding[0])
    return [[(0.0, -1.0), end] for end in ends]


def hull_panel(program, report, letter, name, B, colour):
    left, right = rate(program, B, (-4.0, 0.0), f"figure03_{name}_left.csv"), rate(program, B, (4.0, 0.0), f"figure03_{name}_right.csv")
    low, high = sorted((left[0], right[0]))
    report.number(f"figure 3, {name}: lowest x1' of the hull", low)
    report.number(f"figure 3, {name}: highest x1' of the hull", high)
    slides = low < 0 < high
    share = left[0] / (left[0] - right[0]) if slides else None
    filippov = left[1] + share * (right[1] - left[1]) if slides else None
    if slides:
        slide = program.run(MODEL, {**B, "x1": 0.0, "x2": 0.0}, f"figure03_{name}_slides.csv", "--t", "0,0.5", "--h", "0.125")
        dae = (slide[-1]["x2"] - slide[0]["x2"]) / (slide[-1]["t"] - slide[0]["t"])
        text = f"Filippov's sliding rate {report.number(f'figure 3, {name}: sliding rate of Filippov', filippov)}"
        report.text(f"{letter} {name}: {text}, that of the DAE {report.number(f'figure 3, {name}: sliding rate of the DAE', dae)}.")
        paths = reduced_from_surface(program, report, name, B)
    else:
        rows = program.run("reduced.toml", {**B, "x1": -2.0, "x2": 1.0}, f"figure03_{name}.csv", "--scheme", "located", "--t", "0,3", split=True)
        last = rows[-1]
        missed = abs(last["x2"] - (abs(last["x1"]) + 1))
        report.text(f"{letter} {name}: after the surface the reduced equations miss the constraint by "
                    f"{report.number(f'figure 3, {name}: distance of the reduced solution from the constraint', missed)}.")
        paths = [pairs(rows)]
    series = [line("constraint", CONSTRAINT, "#cccccc", dash=2), *(line("" if k else "solutions after Filippov", path, COLOURS[0]) for k, path in enumerate(paths)),
              line("hull of f- and f+", [left, right], colour, width=3)]
    arrows = [f"set arrow {k} from 0,0 to {v[0]},{v[1]} lw 2 lc rgb 'black' front" for k, v in enumerate((left, right), 1)]
    labels = [f"set label {k} '{word}' at {v[0]},{v[1]} offset 0.6,0.4" for k, (word, v) in enumerate((("f-", left), ("f+", right)), 1)]
    settings = ["unset arrow", "unset label", *arrows, *labels, "set xrange [-3:3]", "set yrange [-3:4]", "set yzeroaxis lt 1 lc rgb '#666666'"]
    return Panel(f"{letter} B = ({B['B1']:g}, {B['B2']:g}), {name}", "x1", "x2", series, settings, key="top left")



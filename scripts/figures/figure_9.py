"""Figure 9 of [RAB]: the error over the step length, as it was measured there and as it is."""

import math

from pictures import COLOURS, Panel, draw, line, marks
from program import WHOLE_STEPS
from report import short
from switching_dae import (
    LAST_STEPS,
    SLIDING_CROSSING,
    SLIDING_REPULSIVE,
    affine_solution,
    distance,
    slope,
    variant37,
)

T = 10.0
CASES = {  # name: (model, exact solution)
    "sliding-crossing": (
        "switching_dae_crossing",
        affine_solution(**SLIDING_CROSSING, x0=(-5.0, 4.0)),
    ),
    "sliding-repulsive": (
        "switching_dae_repulsive",
        affine_solution(**SLIDING_REPULSIVE, x0=(0.0, 0.0)),
    ),
    "variant (37)": ("switching_dae_variant37", variant37),
}
PUBLISHED = "ceil + 1"
QUOTED = (1.29e-2, 1.29e-3, 1.29e-4)  # step lengths whose errors are known for (37)
FINDING = """**With A = 0 first order is not a property of the scheme.** B2 x1 - B1 x2 does not
    contain z: in the scheme as in the solution it is its first value plus B2 t, and of the points
    of the constraint with that value the rule takes the one on the solution. So backward Euler is
    exact at its grid points for every h, through all modes. The published error compares the state
    at the last grid point t_N = N h with the solution at T, and t_N is not T: the authors' program
    steps by h, never by less, and makes room for N = ceil(T/h) + 1 of them. The error is then
    |x(t_N) - x(T)| = |x'| |t_N - T|, with the speeds |x'| = 2 sqrt(2)/3 (crossing) and sqrt(2)/3
    (repulsive) of mode 2; t_N - T is between h and 2 h, which gives a slope of one. Against the
    solution at t_N there is rounding only, which grows with the number of steps. Only (37), where A
    is not 0, has an error of the scheme, and it is of order one; measured as published it is mixed
    with what the solution does from T to t_N, and scatters. How many steps that program makes is
    an inference from its source; for comparison the other rules:"""


def step_lengths(quick):
    """Equally spaced on a logarithmic scale, 10^-4.4 to 1 as in the report's program."""
    count, lowest = (7, -2.5) if quick else (34, -4.4)
    return [10 ** (lowest * (1 - k / (count - 1))) for k in range(count)]


def last_state(program, model, h, end):
    """(x1, x2) after steps of h at `end`."""
    file = "figure09_run.csv"
    until = ("--t", f"0,{end!r}", "--times", repr(end))
    rows = program.run(model, {}, file, "--h", repr(h), *until, "--selector", "minimal_norm")
    program.forget(file)
    return rows[-1]


def measure(program, model, exact, steps):
    """Rows (h, rule, N, t_N, |x_N - x(T)|, |x_N - x(t_N)|) for every rule for the last step."""
    measured = []
    for h in steps:
        for rule, count in LAST_STEPS.items():
            N = count(T, h)
            end = N * h
            state = last_state(program, model, h, end)
            errors = (distance(state, exact(T)), distance(state, exact(end)))
            measured.append((h, rule, N, end, *errors))
    return measured


def of_rule(measured, rule, column):
    return [(row[0], row[column]) for row in measured if row[1] == rule]


def figure_9(program, report, quick):
    report.text(
        "## Figure 9: the error over h",
        """T = 10, minimal norm, Euclidean norm of (x1, x2). The report finds first order for both
        cases with A = 0 and for (37).""",
        FINDING,
    )
    steps = step_lengths(quick)
    measured = {
        name: measure(program, model, exact, steps) for name, (model, exact) in CASES.items()
    }
    write(program, measured)
    report.table(
        ["case", "N", "slope of |x_N - x(T)|", "largest |x_N - x(t_N)|", "not explained by t_N"],
        [row for name in CASES for row in summary(report, name, measured[name])],
    )
    report.text(
        """The last column is the largest relative difference of the error against x(T) from |x'|
        |t_N - T|."""
    )
    draw_errors(program, measured)
    report.picture("figure09.png", "Figure 9: as published; against the solution at t_N")
    report.text(f"The first of {len(steps)} step lengths, N = ceil(T/h) + 1 (all: figure09.csv):")
    report.commands(program.told()[2:3])
    order_of_variant37(program, report, QUOTED[:2] if quick else QUOTED)
    orders_by_perp(program, report, QUOTED[:2] if quick else QUOTED)


def summary(report, name, measured):
    """Rows of the table for one case; the numbers go to the report under its name."""
    rows = []
    for rule in LAST_STEPS:
        against_T, against_tN = of_rule(measured, rule, 4), of_rule(measured, rule, 5)
        apart = [(h, error) for h, error in against_T if error > 1e-9]  # t_N = T: rounding
        label = f"figure 9, {name}, {rule}"
        rows.append(
            [
                name,
                {"floor": "floor(T/h)", "ceil": "ceil(T/h)"}.get(rule, "ceil(T/h) + 1"),
                report.number(f"{label}: slope against x(T)", slope(*zip(*apart))),
                report.number(f"{label}: error at t_N", max(error for _, error in against_tN)),
                "-" if name == "variant (37)" else unexplained(report, name, rule, measured),
            ]
        )
    return rows


def unexplained(report, name, rule, measured):
    """How far the published error is from the distance that the solution goes from T to t_N."""
    exact = CASES[name][1]
    speed = math.dist(exact(T), exact(T - 1))  # of mode 2
    off = [
        abs(error / (speed * abs(end - T)) - 1)
        for _, own, _, end, error, _ in measured
        if own == rule and abs(end - T) > 1e-6
    ]
    return report.number(f"figure 9, {name}, {rule}: not explained by t_N", max(off))


def write(program, measured):
    rows = [(name, *row) for name in CASES for row in measured[name]]
    header = ["case", "h", "rule", "N", "t_N", "error_against_T", "error_against_t_N"]
    program.write("figure09.csv", header, rows)


def draw_errors(program, measured):
    """Two panels: against x(T) and against x(t_N), for the published number of steps."""
    settings = [
        "set logscale xy",
        "set format xy '10^{%L}'",
        "set yrange [5e-18:10]",
    ]
    titles = {
        4: "as published: |x_N - x(T)|, N = ceil(T/h) + 1",
        5: "|x_N - x(t_N)|, 0 drawn at 10^{-17}",
    }
    panels = []
    for column, title in titles.items():
        series = []
        for colour, shape, name in zip(COLOURS, (7, 4, 2), CASES):
            errors = of_rule(measured[name], PUBLISHED, column)
            points = [(h, max(error, 1e-17)) for h, error in errors]
            series.append(marks(name, points, colour, shape))
        ends = (series[0].points[0][0], series[0].points[-1][0])
        series.append(line("h", [(h, h) for h in ends], dash=2, width=1))
        panels.append(
            Panel(title, "h", "error", series, settings, key="outside bottom center horizontal")
        )
    draw(program.folder, "figure09", panels, columns=2, size=(640, 480))


def order_of_variant37(program, report, steps):
    """(37) with the last step ending at T."""
    report.text("(37) with runs that end at T exactly (the last step is shorter):")
    table, last = [], None
    for h in steps:
        error = distance(last_state(program, "switching_dae_variant37", h, T), variant37(T))
        name = f"figure 9, variant (37), h = {h}"
        order = "-"
        if last is not None:
            order = math.log(last[1] / error) / math.log(last[0] / h)
            order = report.number(f"{name}: order", order)
        table.append([short(h), report.number(f"{name}: error at T", error), order])
        last = (h, error)
    report.table(["h", "error at T", "order"], table)
    report.commands(program.told()[-1:])


def orders_by_perp(program, report, steps):
    """The same by perp converge, and that it claims no order with A = 0."""
    report.text(
        """The same by `perp converge` (largest component instead of the Euclidean norm), with the
        rules that choose between solutions:"""
    )
    selectors = ("--selectors", "keep_mode,continuation,minimal_norm", "-o", "figure09_variant37.csv")
    lengths = ",".join(map(repr, steps))
    done = program.call(
        "converge", "switching_dae_variant37", *WHOLE_STEPS, "--h", lengths, *selectors
    )
    report.commands(program.told())
    report.output(done.stdout)
    for row in program.rows("figure09_variant37.csv"):
        if isinstance(row["order_end"], float):
            name = f"perp converge, variant (37), {row['variant']}, h = {row['h']}: order"
            report.number(name, row["order_end"])
    report.text("And with A = 0 it claims no order:")
    for options in ((), ("--whole-steps",)):
        done = program.call(
            "converge", "switching_dae_crossing", "--h", "0.9,0.3,0.129,0.0129", *options
        )
        report.commands(program.told())
        report.output(done.stdout)

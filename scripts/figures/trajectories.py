"""Figures 7, 8, 10 and 11 of [RAB]: trajectories for two step lengths beside exact solutions."""

from pictures import COLOURS, Panel, draw, line, marks
from switching_dae import SLIDING_CROSSING, affine_solution, largest_distance, variant37

T = 10.0
STEPS = (0.9, 0.3)


def grid(exact, count=400):
    """Times from 0 to T with the exact states there."""
    return [(t, *exact(t)) for t in (T * k / count for k in range(count + 1))]


def column(rows, x, y):
    return [(row[x], row[y]) for row in rows]


def points(title, pairs, colour):
    """Large open squares for long steps, which the dots of the short ones would hide."""
    is_long = title.endswith(f"h = {STEPS[0]}")
    shape, size = (4, 1.5) if is_long else (7, 0.8)
    return marks(title, pairs, colour, shape, size, joined=True)


def time_panels(exact, runs):
    """x1 and x2 over t: the exact lines, and for each run (title, rows) its points."""
    panels = []
    for index, name in enumerate(("x1", "x2"), start=1):
        series = [line("exact", [(row[0], row[index]) for row in grid(exact)])]
        for colour, (title, rows) in zip(COLOURS, runs):
            series.append(points(title, column(rows, "t", name), colour))
        panels.append(Panel("", "t", name, series))
    return panels


def phase_panel(exact, runs, lowest, highest):
    """x2 over x1 with the constraint from x1 = lowest to highest."""
    constraint = [(lowest, -lowest - 1), (0, -1), (0, 1), (highest, highest + 1)]
    series = [
        line("constraint", constraint, "#cccccc", dash=2),
        line("exact", [row[1:] for row in grid(exact)]),
    ]
    for colour, (title, rows) in zip(COLOURS, runs):
        series.append(points(title, column(rows, "x1", "x2"), colour))
    return Panel("", "x1", "x2", series, ["set xzeroaxis", "set yzeroaxis"], key="bottom right")


def compute(program, report, model, exact, figures, file):
    """Runs of both step lengths; their errors go into the report."""
    runs, table = [], []
    for h in STEPS:
        options = ("--h", h, "--selector", "minimal_norm")
        rows = program.run(model, {}, f"{file}_h_{h}.csv", *options)
        error = largest_distance(rows, exact)
        text = report.number(f"{figures}, h = {h}: largest error", error)
        runs.append((f"perp, h = {h}", rows))
        table.append([h, len(rows) - 1, text])
    report.table(["h", "steps", "largest error at the grid points"], table)
    return runs


def figures_7_8(program, report):
    exact = affine_solution(**SLIDING_CROSSING, x0=(-5.0, 4.0))
    report.text(
        "## Figures 7 and 8: sliding-crossing",
        "B = (-0.5, 1), x0 = (-5, 4), h = 0.9 and 0.3, minimal norm as in the report.",
    )
    model = "switching_dae_crossing"
    runs = compute(program, report, model, exact, "figures 7 and 8", "figure07")
    draw(program.folder, "figure07", [phase_panel(exact, runs, -5, 5)], size=(760, 560))
    draw(program.folder, "figure08", time_panels(exact, runs), size=(900, 320))
    report.picture("figure07.png", "Figure 7: phase picture")
    report.picture("figure08.png", "Figure 8: x1 and x2 over t")
    report.commands(program.told())


def figures_10_11(program, report):
    report.text(
        "## Figures 10 and 11: the variant (37)",
        """A = (0 1; -1 0), B = (-1, 0.5), x0 = (0, 0), h = 0.9 and 0.3, minimal norm. Here the
        error at the grid points is that of implicit Euler.""",
    )
    model = "switching_dae_variant37"
    runs = compute(program, report, model, variant37, "figures 10 and 11", "figure10")
    draw(program.folder, "figure10", [phase_panel(variant37, runs, -1, 2)], size=(760, 560))
    draw(program.folder, "figure11", time_panels(variant37, runs), size=(900, 320))
    report.picture("figure10.png", "Figure 10: phase picture")
    report.picture("figure11.png", "Figure 11: x1 and x2 over t")
    report.commands(program.told())

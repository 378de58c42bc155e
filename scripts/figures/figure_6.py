"""Figure 6 of [RAB]: the relay form, on which Newton's method is reported to fail."""

import newton
from pictures import draw
from program import Failed
from report import short
from switching_dae import affine_solution, largest_distance
from trajectories import time_panels

X0 = (-3.0, 2.0)
T = 10.0
B1_OF_FIGURE = (-0.49, -0.5)  # B2 = 1
H = "0.1"


def values(B1):
    return {"B1": B1, "B2": 1, "x1": -3, "x2": 2}


def exact_solution(B1):
    return affine_solution(B1, 1.0, X0)


def figure_6(program, report):
    report.text(
        "## Figure 6: the relay form (34)",
        """x0 = (-3, 2), B = (-0.49, 1) and (-0.5, 1), h = 0.1. In the report Newton's method fails
        on the first and meets a matrix that cannot be inverted on the second. Here every branch of
        the relay has its own Newton iteration, in which the multiplier of the sliding branch is an
        unknown.""",
    )
    panels, table = [], []
    for B1 in B1_OF_FIGURE:
        exact = exact_solution(B1)
        file = f"figure06_B1_{-B1}.csv"
        rows = program.run("switching_dae_relay", values(B1), file, "--h", H)
        error = report.number(f"figure 6, B1 = {B1}: largest error", largest_distance(rows, exact))
        table.append([f"({B1}, 1)", len(rows) - 1, short(rows[-1]["t"]), error])
        panels += time_panels(exact, [(f"perp, B = ({B1}, 1)", rows)])
    report.table(["B", "steps", "reached t", "largest error at the grid points"], table)
    draw(program.folder, "figure06", panels, columns=2, size=(640, 340))
    report.picture("figure06.png", "Figure 6: x1 and x2 over t")
    report.commands(program.told())
    newton_on_the_product(report)
    solvers_on_the_lcp_form(program, report)


def newton_on_the_product(report):
    """Why an iteration on the product (1 + x1) s can fail: the derivative by s."""
    report.text(
        """Newton's method on the product itself, the complementarity kept, works too where the
        derivative of (1 + x1) s by s is 1 + x1. A relay form published beside the report's
        examples (siconos-tutorials, `.sandbox/hybrid-daes/Vrac/NLRelation_Plugin`) has x1 in its
        place. That is 0 in the sliding mode, where the multiplier then cannot be found: the
        iteration ends at the first step that should slide. With B = (-0.5, 1) that step ends in
        (0, -1) itself, so that a matrix is singular exactly; with B = (-0.49, 1) no grid point is
        there. Whether Figure 6 was made with that file is an inference."""
    )
    rows = []
    for B1 in B1_OF_FIGURE:
        for text, derivative in (("1 + x1", lambda x1: 1 + x1), ("x1", lambda x1: x1)):
            t, x, most = newton.run(B1, 1.0, X0, 0.0, float(H), T, derivative)
            name = f"figure 6, Newton, B1 = {B1}, derivative {text}: reached t"
            off = max(abs(a - b) for a, b in zip(x, exact_solution(B1)(t)))
            rows.append([f"({B1}, 1)", text, report.number(name, t), short(off), most])
    report.table(["B", "derivative by s", "reached t", "error there", "most iterations"], rows)


def solvers_on_the_lcp_form(program, report):
    """The same start with the LCP (36), by every method that takes it."""
    listed = program.call("list", "solvers").stdout.splitlines()[1:]
    rows = []
    for name in (text.split()[0] for text in listed):
        errors = [error_of_solver(program, report, name, B1) for B1 in B1_OF_FIGURE]
        rows.append([f"`{name}`", *errors])
    report.text(
        """The LCP form (36) from the same start, one method alone (`--selector first`), largest
        error at the grid points:"""
    )
    report.table(["method", "B = (-0.49, 1)", "B = (-0.5, 1)"], rows)
    report.commands([program.told()[1].replace("enumerate", "NAME")])


def error_of_solver(program, report, name, B1):
    """The largest error as text, or why perp did not run."""
    file = f"figure06_{name}_B1_{-B1}.csv"
    options = ("--h", H, "--selector", "first", "--solver", name)
    try:
        rows = program.run("switching_dae_crossing_lcp", values(B1), file, *options)
    except Failed as refused:
        program.forget(file)
        return "refused: " + str(refused).strip().split(": ")[-1]
    error = largest_distance(rows, exact_solution(B1))
    return report.number(f"figure 6, {name}, B1 = {B1}: largest error", error)

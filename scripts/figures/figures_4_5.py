"""Figures 4 and 5 of [RAB]: the generalised equation of a step and of a jump, with all of its solutions."""

import json

from pictures import COLOURS, Panel, draw, line, marks

REACH = 3.0  # of y in figure 4
CASES = (  # name, a, c; b = 1
    ("a - b > 0, a + b > 0", 2.0, 0.5),
    ("a - b < 0, a + b > 0", 0.5, 0.5),
    ("a - b < 0, a + b < 0", -2.0, 0.5),
)
JUMPS = ((1.0, 2.0), (1.0, 3.0), (1.0, 1.0), (2.0, 1.0))  # B, with B2/B1 > 0


def figure_4(program, report):
    report.text(
        "## Figure 4: the generalised equation (20)",
        """0 in a x + |x| + c + sign(x): y = a x + |x| + c lies on the graph of h, and x in -N(y), the normal cone of [-1, 1].
        It is the equation (27) of a step with B = (1, -a) from x = (-h, -c): the points are all solutions that
        `perp solutions` lists, with the proof that the list is complete.""",
    )
    panels, table = [], []
    for name, a, c in CASES:
        found, is_complete = solutions(program, a, c)
        residual = max((miss(x, y, a, c) for y, x in found), default=0.0)
        table.append([name, a, c, report.number(f"figure 4, {name}: solutions", len(found)),
                      "yes" if is_complete else "no", report.number(f"figure 4, {name}: largest distance from the two graphs", residual)])
        report.number(f"figure 4, {name}: is the list complete", int(is_complete))
        panels.append(panel(name, a, c, found))
    report.table(["case", "a", "c", "solutions", "complete", "distance from the graphs"], table)
    draw(program.folder, "figure04", panels, columns=3, size=(420, 420))
    report.picture("figure04.png", "Figure 4: h and the normal cone")
    report.commands(program.told())


def solutions(program, a, c):
    """(y, x) of every solution, and whether there are no others."""
    h = 0.5
    done = program.call("solutions", "switching_dae_jump", "--set", "B1=1", "--set", f"B2={-a}", "--h", h,
                        "--at", f"x1={-h},x2={-c}", "--json", solved=False)
    answer = json.loads(done.stdout)
    points = sorted((a * s["x"][0] + abs(s["x"][0]) + c, s["x"][0]) for s in answer["solutions"])
    return points, answer["complete"]


def miss(x, y, a, c):
    """How far (y, x) is from the graph of h and from that of -N."""
    of_h = abs(y - (a * x + abs(x) + c))
    of_cone = abs(x) if abs(y) <= 1 else float("inf")
    if x > 0:
        of_cone = abs(y + 1)
    elif x < 0:
        of_cone = abs(y - 1)
    return max(of_h, min(of_cone, abs(abs(y) - 1) if x == 0 and abs(y) > 1 else of_cone))


def panel(name, a, c, found):
    graph = [(a * x + abs(x) + c, x) for x in (-REACH, 0.0, REACH)]
    cone = [(-1.0, REACH), (-1.0, 0.0), (1.0, 0.0), (1.0, -REACH)]
    series = [line("h(y)", graph, COLOURS[0]), line("-N(y)", cone, COLOURS[2], dash=2), marks("solutions", found, COLOURS[1], size=1.3)]
    settings = ["set xrange [-3:3]", "set yrange [-3:3]", "set xzeroaxis", "set yzeroaxis"]
    return Panel(f"{name}: a = {a:g}, c = {c:g}", "y", "x", series, settings, key="top right")


def figure_5(program, report):
    report.text(
        "## Figure 5: jumps from A- = (0, -1)",
        """Equation (24): the constraint |x1| + sign(x1) meets the line (B2/B1) x1 - 1. For B2/B1 > 1 there is one point of mode 2,
        (2 B1, B1 + B2)/(B2 - B1), to which the state jumps; else there is none, and no solution goes on. The points are those
        of `perp jumps`.""",
    )
    series = [line("|x1| + sign(x1)", [(-3, 2), (0, -1), (0, 1), (4, 5)], "#666666", width=3)]
    table = []
    for colour, (b1, b2) in zip(COLOURS, JUMPS):
        points, word = jumps(program, b1, b2)
        expected = [(2 * b1 / (b2 - b1), (b1 + b2) / (b2 - b1))] if b2 > b1 else []
        error = max((abs(p - e) for found, exact in zip(points, expected) for p, e in zip(found, exact)), default=0.0)
        label = f"B = ({b1:g}, {b2:g})"
        table.append([label, report.number(f"figure 5, {label}: jumps", len(points)), len(expected), word,
                      report.number(f"figure 5, {label}: error", error)])
        series.append(line(label, [(x, b2 / b1 * x - 1) for x in (-1.0, 4.0)], colour))
        if points:
            series.append(marks("", points, colour, size=1.5))
    report.table(["B", "jumps", "by (24)", "answer", "error"], table)
    settings = ["set clip two", "set xrange [-2:4]", "set yrange [-3:5]", "set xzeroaxis", "set yzeroaxis"]
    draw(program.folder, "figure05", [Panel("", "x1", "x2", series, settings, key="bottom right")], size=(760, 560))
    report.picture("figure05.png", "Figure 5: jumps from A-")
    report.commands(program.told())


def jumps(program, b1, b2):
    """(x1, x2) after each jump, and the word of the answer."""
    done = program.call("jumps", "switching_dae_jump", "--set", f"B1={b1}", "--set", f"B2={b2}", "--at", "x1=0,x2=-1", "--json", solved=False)
    answer = json.loads(done.stdout)
    return [tuple(jump["x"][:2]) for jump in answer["jumps"]], answer["class"]

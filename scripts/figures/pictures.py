"""Pictures by gnuplot: panels of curves and points, each with its data beside it."""

import pathlib
import subprocess

from program import Failed

COLOURS = ["#0060ad", "#dd181f", "#2e8b57", "#8a2be2"]
GREY = "#999999"


class Series:
    """Points (x, y) with a title; `style` is gnuplot's, e.g. "lines lw 1"."""

    def __init__(self, title, points, style):
        self.title, self.points, self.style = title, list(points), style


def line(title, points, colour=GREY, dash=1, width=2):
    return Series(title, points, f"lines lw {width} dt {dash} lc rgb '{colour}'")


def marks(title, points, colour, shape=7, size=0.8, joined=False):
    kind = "linespoints lw 1" if joined else "points"
    return Series(title, points, f"{kind} pt {shape} ps {size} lc rgb '{colour}'")


class Panel:
    """One coordinate system: title, names of the axes, series, further lines of gnuplot."""

    def __init__(self, title, x, y, series, settings=(), key="top left"):
        self.title, self.x, self.y, self.series = title, x, y, series
        self.settings, self.key = settings, key

    def script(self, data):
        plots = [
            f"'{data}' index {index} using 1:2 with {series.style} title '{series.title}'"
            for index, series in enumerate(self.series)
        ]
        lines = [
            f"set title '{self.title}'",
            f"set xlabel '{self.x}'",
            f"set ylabel '{self.y}'",
            f"set key {self.key}",
            *self.settings,
            "plot " + ", \\\n     ".join(plots),
        ]
        return "\n".join(lines) + "\n"

    def data(self):
        """Blocks of numbers as gnuplot's `index` counts them."""
        blocks = ["\n".join(f"{x!r} {y!r}" for x, y in series.points) for series in self.series]
        return "\n\n\n".join(blocks) + "\n"


def draw(folder, name, panels, columns=1, size=(900, 420)):
    """Draws NAME.png with NAME.gp and NAME_1.dat, ... beside it. Raises Failed."""
    folder = pathlib.Path(folder)
    rows = -(-len(panels) // columns)
    script = [
        f"set terminal pngcairo size {size[0] * columns},{size[1] * rows} font 'sans,11'",
        f"set output '{name}.png'",
        "set encoding utf8",
        "set grid lc rgb '#dddddd'",
        "set border lc rgb '#666666'",
        f"set multiplot layout {rows},{columns}",
    ]
    for index, panel in enumerate(panels, start=1):
        data = f"{name}_{index}.dat"
        (folder / data).write_text(panel.data(), encoding="utf-8")
        script.append(panel.script(data))
    script.append("unset multiplot")
    (folder / f"{name}.gp").write_text("\n".join(script) + "\n", encoding="utf-8")
    try:
        done = subprocess.run(
            ["gnuplot", f"{name}.gp"], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise Failed("gnuplot was not found; install the package gnuplot-nox") from error
    if done.returncode != 0 or done.stderr.strip():
        raise Failed(f"gnuplot {name}.gp: {done.stderr.strip()}")
    return f"{name}.png"

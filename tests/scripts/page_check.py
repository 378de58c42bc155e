#!/usr/bin/env python3
"""Pages of `--plot FILE.html` in a browser: page_check.py PROGRAM

The page is opened in headless Chromium with a script behind its own that turns the wheel, drags, clicks twice and clicks in the legend
as a user does, and writes down what the page then shows. Without Chromium (scripts/setup browser) the check is skipped with status 77.
"""

import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

program = pathlib.Path(sys.argv[1]).resolve()
SKIPPED = 77
WIDTH = 1000

USER = """
<pre id="report"></pre>
<script>
const report = {}, plane = k => document.querySelectorAll("svg.plane")[k];
const note = name => { report[name] = [...document.querySelectorAll("svg.panel")].map(svg => ({
  view: svg.querySelector(".plane").getAttribute("viewBox").split(" ").map(Number),
  x: [...svg.querySelectorAll("text.x")].map(node => [Number(node.getAttribute("x")), node.textContent]),
  y: [...svg.querySelectorAll("text.y")].map(node => [Number(node.getAttribute("y")), node.textContent])})); };
function point(k, u, v) {  // of shares of a plane
  const svg = document.querySelectorAll("svg.panel")[k], box = svg.getBoundingClientRect(), scale = box.width / 900;
  return {clientX: box.left + scale * (80 + 800 * u), clientY: box.top + scale * (8 + plane(k).height.baseVal.value * v), bubbles: true, cancelable: true, pointerId: 1};
}
const wheel = (k, u, v, more) => plane(k).dispatchEvent(new WheelEvent("wheel", {...point(k, u, v), deltaY: -100, ...more}));
const pointer = (kind, k, u, v, more) => plane(k).dispatchEvent(new PointerEvent("pointer" + kind, {...point(k, u, v), ...more}));
note("start");
wheel(0, 0.25, 0.5);
note("wheel");
wheel(0, 0.25, 0.5, {shiftKey: true});
note("vertical");
pointer("down", 0, 0.5, 0.5); pointer("move", 0, 0.4, 0.5); pointer("up", 0, 0.4, 0.5);
note("dragged");
report.at = document.getElementById("at").textContent;
plane(0).dispatchEvent(new MouseEvent("dblclick", point(0, 0.5, 0.5)));
note("reset");
pointer("down", 0, 0.2, 0.1, {shiftKey: true}); pointer("move", 0, 0.6, 0.6, {shiftKey: true}); pointer("up", 0, 0.6, 0.6, {shiftKey: true});
note("box");
const button = document.querySelector("#legend button"), shown = () =>
  [...document.querySelectorAll("." + button.dataset.key)].map(node => getComputedStyle(node).display !== "none");
report.name = button.textContent;
report.before = shown(); button.click();
report.hidden = shown(); report.pressed = button.getAttribute("aria-pressed"); button.click();
report.again = shown();
document.getElementById("report").textContent = JSON.stringify(report);
</script>
"""


def fail(text):
    sys.exit(f"page_check: {text}")


def check(is_true, text):
    if not is_true:
        fail(text)


def near(a, b):
    return all(math.isclose(x, y, rel_tol=1e-3, abs_tol=2) for x, y in zip(a, b))


def used(browser, folder, page):
    """What the page shows to the user of above."""
    text = page.read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text)) - {"http://www.w3.org/2000/svg"}
    check(not addresses and "src=" not in text, f"{page.name} needs {addresses or 'a file'}")
    (folder / "used.html").write_text(text.replace("</html>", USER + "</html>"), encoding="utf-8")
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
                           f"--window-size={WIDTH},1200", "--virtual-time-budget=4000", "--dump-dom", (folder / "used.html").as_uri()],
                          capture_output=True, text=True, check=False, timeout=300)
    found = re.search(r'<pre id="report">(.*?)</pre>', done.stdout, re.DOTALL)
    check(found and found[1], f"the script of {page.name} did not run to its end:\n{done.stderr[-1500:]}")
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def check_ticks(panel, x, view):
    """Numbers stand where the axis has them."""
    check(len(panel["x"]) >= 3, f"ticks {panel['x']}")
    low, high = (x[0] + (x[1] - x[0]) * share / 1000 for share in (view[0], view[0] + view[2]))
    for place, text in panel["x"]:
        check(abs(80 + 800 * (float(text) - low) / (high - low) - place) < 1, f"tick {text} at {place}")


def check_over_time(browser, folder):
    page = folder / "page.html"
    subprocess.run([program, "run", "switching_dae_crossing", "--plot", page, "--plot-panels", "x1,x2; z", "--quiet"], check=True)
    seen = used(browser, folder, page)
    first = {name: panels[0]["view"] for name, panels in seen.items() if isinstance(panels, list) and isinstance(panels[0], dict)}
    check(first["start"] == [0, 0, 1000, 1000], f"start {first['start']}")
    check(near(first["wheel"], [50, 0, 800, 1000]), f"the wheel zooms in time about the pointer: {first['wheel']}")
    check(near(seen["wheel"][1]["view"], [50, 0, 800, 1000]), "all panels have one time")
    check(near(first["vertical"], [50, 100, 800, 800]), f"with shift vertically: {first['vertical']}")
    check(near(seen["vertical"][1]["view"], [50, 0, 800, 1000]), "the others keep their height")
    check(near(first["dragged"], [130, 100, 800, 800]), f"dragged by a tenth: {first['dragged']}")
    check(first["reset"] == [0, 0, 1000, 1000], f"double click {first['reset']}")
    check(near(first["box"], [200, 100, 400, 500]), f"box {first['box']}")
    for name in ("start", "wheel", "dragged", "box"):
        check_ticks(seen[name][1], (0, 10), first[name])
    check("t = " in seen["at"], f"the place of the pointer: {seen['at']}")
    check(seen["name"].startswith("x1") and seen["before"] == [True] == seen["again"], f"shown {seen['before']}, {seen['again']}")
    check(seen["hidden"] == [False] and seen["pressed"] == "false", f"hidden {seen['hidden']}")


def check_phase(browser, folder):
    subprocess.run([program, "run", "stick_slip", "--plot", folder / "slip.html", "--plot-phase", "x1,x2", "--plot-layers",
                    "arrows,surfaces", "--quiet"], check=True)
    seen = used(browser, folder, folder / "slip_phase.html")
    check(near(seen["wheel"][0]["view"], [50, 100, 800, 800]), f"a phase picture zooms in both directions: {seen['wheel'][0]['view']}")
    check(seen["name"].startswith("flow at t = 0") and seen["hidden"] == [False], f"legend {seen['name']}, {seen['hidden']}")


def check_blocks(browser, folder):
    """Pictures of maps, trees, bounds and sweeps: what their legend hides is what they draw."""
    sweep = ["sweep", "stick_slip", "--t", "0,4", "--quiet"]
    for name, words, first in (
            ("map", ["map", "switching_dae_jump", "--vary", "B1=-2:2:9", "--vary", "B2=-2:2:9", "--what", "ac", "--at", "x1=0,x2=-1"], "none ("),
            ("tree", ["solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-0.5", "--tree", "3"], "solution of a step"),
            ("bounds", ["enclose", "stick_slip", "--t", "0,6"], "branch 0, unique"),
            ("heat", [*sweep, "--vary", "vb=0.5:1.5:4", "--vary", "Fs=0.3:0.6:3", "--measure", "A=ptp(x1)"], "A "),
            ("fan", [*sweep, "--random", "Fs=uniform(0.3,0.6)", "--runs", "8", "--plot-type", "fan"], "90 % of the runs")):
        subprocess.run([program, *words, "--plot", folder / f"{name}.html"], check=True, stdout=subprocess.DEVNULL)
        seen = used(browser, folder, folder / f"{name}.html")
        check(seen["name"].startswith(first), f"{name}: legend {seen['name']}")
        check(True in seen["before"] and True not in seen["hidden"] and seen["again"] == seen["before"], f"{name}: {seen['before']}, {seen['hidden']}")
        check(seen["reset"][0]["view"] == [0, 0, 1000, 1000] != seen["wheel"][0]["view"], f"{name} zooms: {seen['wheel'][0]['view']}")


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("page_check: skipped, there is no Chromium; scripts/setup browser installs it")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_over_time(browser, folder)
        check_phase(browser, folder)
        check_blocks(browser, folder)
    print("pages zoom, move, go back and hide curves")


main()

#!/usr/bin/env python3
"""Reference cases in other units and other words, which change nothing of what is proved of them.

    enclosure_restatements.py PERP CASE.json ... [--seed N] [--count N] [--kind KIND] [--keep DIR] [--most-seconds S]

Each case is restated at random: units of variables and of time (powers of two and of ten, shifts, reflections), names, order of
variables and equations, operators by their equivalents, further unknowns, time as a state, company that acts on nothing. The rows of
`perp enclose` are taken back to the units of the case, in exact decimal numbers, and must hold its members, with the flags, widths and
events that the case asks for. A line for each restatement that fails; exit status 1 if there is one. --keep: its files.
"""

import argparse
import csv
import itertools
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

from enclosure_statements import KINDS, D, plain, restated, with_name

rounding = 20  # by which the absolute limits of a case are wider: most numbers of a restatement are no doubles


class Judge:
    """Rows and events in the units of the case, against its members."""

    SAME = {"kink": "crossing", "mode_change": "crossing", "reset": "jump", "impact": "jump"}
    OPTIONAL = ("kink", "mode_change")

    def __init__(self, case, of, rows, events):
        self.case, self.rows, self.events, self.errors = case, rows, events, []
        self.accuracy, self.until = D(case["accuracy"]), D(case["expect"]["until"])
        self.factor, self.absolute = D(str(case["limits"]["factor"])), rounding * D(str(case["limits"]["absolute"]))
        self.shift = 1 + max(abs(shift) for _, _, shift in of.columns.values())
        self.absolute *= self.shift
        self.differential = [f"der({name})" in case["toml"] for name in case["columns"]]

    def run(self):
        hulls = [[D(b) - D(a) for a, b in row] for row in self.case["hull"]]
        largest = [max(row[c] for row in hulls) for c in range(len(self.differential))]
        for k, text in enumerate(self.case["times"]):
            t = D(text)
            here = [row for row in self.rows if row["t"] == t]
            if not here and t <= self.until:
                self.errors.append(f"no row at t = {t}")
            if here:
                self.check_members(k, t, here)
                self.check_flags(t, here)
                if t <= self.until:
                    self.check_widths(t, here, hulls[k], largest)
        self.check_lost()
        self.check_events()
        return self.errors

    def near_event(self, t, members):
        return any(abs(D(event["t"]) - t) < D("1e-9") for member in members for event in member["events"])

    def check_members(self, k, t, here):
        for member in self.case["members"]:
            judged = [is_state or not self.near_event(t, [member]) for is_state in self.differential]
            values = [D(x) for x in member["states"][k]]
            distance = min(max(max(lo - x, x - hi) for (lo, hi), x, j in zip(row["box"], values, judged) if j) for row in here)
            if distance > self.accuracy:
                self.errors.append(f"a member is outside by {distance:.2e} at t = {t}")

    def check_flags(self, t, here):
        flag = self.case["expect"]["flag"]
        for row in here:
            if flag == "unique" and t <= self.until and row["flag"] != "unique":
                self.errors.append(f"not unique at t = {t}")
            if flag == "all" and t > 0 and row["flag"] == "unique":
                self.errors.append(f"unique where there are several, at t = {t}")

    def check_widths(self, t, here, hull, largest):
        near = self.near_event(t, self.case["members"])
        for c, name in enumerate(self.case["columns"]):
            if near and not self.differential[c]:
                continue
            width = max(row["box"][c][1] for row in here) - min(row["box"][c][0] for row in here)
            allowed = self.factor * hull[c] + self.absolute + D("0.02") * largest[c]
            if width > allowed:
                self.errors.append(f"{name} is {width / allowed:.3g} times too wide at t = {t}")

    def check_lost(self):
        expected = self.case["expect"].get("lost")
        lost = [event for event in self.events if event["type"] == "lost"]
        if expected and self.rows and self.rows[-1]["t"] < D(expected[1]):
            if not any(event["lo"] <= D(expected[1]) and event["hi"] >= D(expected[0]) for event in lost):
                self.errors.append("lost elsewhere")

    def check_events(self):
        got = [event for event in self.events if event["type"] != "lost"]
        kind = lambda name: self.SAME.get(name, name)
        tolerance = max(self.accuracy, D("1e-25"))
        sequences = set()
        for member in self.case["members"]:
            wanted = [e for e in member["events"] if e["type"] not in self.OPTIONAL and D(e["t"]) <= self.until]
            sequences.add(tuple(kind(e["type"]) for e in wanted))
            for e in wanted:
                if not any(kind(g["type"]) == kind(e["type"]) and g["lo"] - tolerance <= D(e["t"]) <= g["hi"] + tolerance for g in got):
                    self.errors.append(f"{e['type']} at t = {e['t'][:14]} is in no event")
        if self.case["expect"]["flag"] != "unique" or len(sequences) > 1 or len({g["branch"] for g in got}) > 1:
            return
        if any(g["proof"] != "unique" for g in got):
            self.errors.append("an event is not unique")
        spread = self.shift * rounding * D(str(self.case["limits"]["event_absolute"]))
        listed = [[D(e["t"]) for e in m["events"]] for m in self.case["members"]]
        if len(got) == len(listed[0]) and len({len(m) for m in listed}) == 1:
            for i, g in enumerate(got):
                times = [m[i] for m in listed]
                if g["hi"] - g["lo"] > self.factor * (max(times) - min(times)) + spread:
                    self.errors.append(f"the event at t = {g['lo']:.6g} is too wide")


def table(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [line for line in csv.DictReader(row for row in file if not row.startswith("#"))]


def result(of, folder, case):
    """Rows and events, in the units of the case."""
    rows = []
    for line in table(folder / "rows.csv"):
        box = []
        for column in case["columns"]:
            name, factor, shift = of.columns[column]
            box.append(tuple(sorted(factor * D(line[name + end]) + shift for end in ("_lo", "_hi"))))
        rows.append({"t": D(line["t"]) * of.time, "flag": line["flag"], "branch": line["branch"], "box": box})
    events = []
    for line in table(folder / "events.csv"):
        if not any(with_name(line["law"], name, "") != line["law"] for name in of.company):
            events.append({"lo": D(line["t_lo"]) * of.time, "hi": D(line["t_hi"]) * of.time, **{k: line[k] for k in ("type", "proof", "branch", "note")}})
    return rows, events


def judge(perp, case, of, folder, most_seconds):
    """(errors, seconds of the processor)."""
    (folder / "model.toml").write_text(of.text())
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = ",".join(plain(t / of.time) for t in of.times)
    try:
        made = subprocess.run([perp, "enclose", folder / "model.toml", "--times", times, "-o", folder / "rows.csv", "--events", folder / "events.csv",
                               "--threads", "1"], capture_output=True, text=True, timeout=most_seconds)
    except subprocess.TimeoutExpired:
        return [f"more than {most_seconds} s"], most_seconds
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (folder / "said.txt").write_text(made.stdout + made.stderr)
    if made.returncode not in (0, 3):
        return [f"exit status {made.returncode}: {made.stderr[-300:]}"], seconds
    rows, events = result(of, folder, case)
    errors = Judge(case, of, rows, events).run()
    if errors and made.returncode == 3:
        errors = [made.stderr.strip()[-250:]] + errors
    return errors, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perp")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--kind", default=",".join(KINDS))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--most-seconds", type=float)
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    total = failed = 0
    for path in options.cases:
        case = json.loads(path.read_text())
        for kind, k in itertools.product(options.kind.split(","), range(options.count)):
            of = restated(case, kind, random.Random(f"{options.seed} {k} {kind} {path.stem}"))
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                errors, seconds = judge(options.perp, case, of, folder, options.most_seconds)
                total += 1
                late = " (slow: %.2f s of %g)" % (seconds, case["limits"]["seconds"]) if seconds > case["limits"]["seconds"] else ""
                if errors or late:
                    failed += bool(errors)
                    print(f"{path.stem} {kind} {k}{late}: {'; '.join(errors[:3])} | {', '.join(of.said)}".replace("\n", " / "), flush=True)
                    if options.keep and errors:
                        kept = options.keep / f"{path.stem}_{kind}_{k}"
                        kept.mkdir(parents=True, exist_ok=True)
                        for file in folder.iterdir():
                            (kept / file.name).write_bytes(file.read_bytes())
    print(f"{total} restatements, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prints the medians of a benchmark run as a table: bench_table.py [--gates] RESULT.json

Times are CPU ns per step (or per problem); `floor` is the time of the smallest amount of work that the case
could do, measured in the same process; `spread` is the relative range of the repetitions' middle half.
With --gates the cases that have a gate, with pass or miss.
Exit status 1 if a case failed its check and was not timed.
"""

import json
import statistics
import sys

STEPS = ("ns_per_step", "floor_ns", "ratio_to_floor", "allocations_per_step")
PEERS = ("siconos_ns", "perp_ns", "ratio_siconos_to_perp", "siconos_allocations")
RUNS = ("sundials_ms", "perp_ms", "sundials_error_end", "perp_error_end", "sundials_error_events", "perp_error_events")
GATE = "gate "
HIDDEN = set(STEPS) | set(PEERS) | set(RUNS)


def number(value):
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def counters(row):
    """User counters of one repetition: what Google Benchmark itself does not write."""
    own = {
        "cpu_time", "real_time", "iterations", "repetitions", "repetition_index", "threads",
        "family_index", "per_family_instance_index", "items_per_second",
    }  # fmt: skip
    return {
        key: value
        for key, value in row.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key not in own
    }


def medians(rows):
    keys = dict.fromkeys(key for row in rows for key in counters(row))
    return {key: statistics.median(counters(row).get(key, 0) for row in rows) for key in keys}


def spread(rows, key):
    values = sorted(row[key] for row in rows)
    quarter = len(values) // 4
    middle = values[quarter : len(values) - quarter]
    return (middle[-1] - middle[0]) / statistics.median(values)


def table(header, lines):
    if not lines:
        return
    rows = [header, *lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:-1], widths[1:])]
        print("  ".join([*cells, row[-1]]).rstrip())
    print()


def gates(cases):
    """A line for each counter that has a limit."""
    for name, rows in sorted(cases.items()):
        values = medians(rows)
        for key, most in values.items():
            if key.startswith(GATE):
                value = values[key.removeprefix(GATE)]
                yield [name, key.removeprefix(GATE), number(value), number(most), "pass" if value <= most else "miss"]


def main(arguments):
    wants_gates = "--gates" in arguments
    arguments = [argument for argument in arguments if argument != "--gates"]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[0], encoding="utf-8") as file:
        result = json.load(file)
    cases, failed = {}, {}
    for row in result["benchmarks"]:
        if row.get("error_occurred"):
            failed[row["run_name"]] = row["error_message"]
        elif row["run_type"] == "iteration":
            cases.setdefault(row["run_name"], []).append(row)

    if wants_gates:
        table(["case", "", "median", "at most", ""], list(gates(cases)))
        cases_of_table = {}
    else:
        cases_of_table = cases
    steps, peers, runs = [], [], []
    for name, rows in sorted(cases_of_table.items()):
        values = medians(rows)
        rest = " ".join(f"{k}={number(v)}" for k, v in values.items() if k not in HIDDEN and not k.startswith(GATE))
        shown, keys = steps, STEPS
        if "siconos_ns" in values:
            shown, keys = peers, PEERS
        elif "sundials_ms" in values:
            shown, keys = runs, RUNS
        cells = [number(values[key]) if key in values else "-" for key in keys]
        shown.append([name, *cells, f"{100 * spread(rows, keys[0]):.1f}%", rest])
    table(["case", "ns", "floor ns", "ratio", "allocations", "spread", ""], steps)
    table(["case", "siconos ns", "perp ns", "ratio", "allocations", "spread", ""], peers)
    columns = ["sundials ms", "perp ms", "its error", "perp's", "its events", "perp's"]
    table(["case", *columns, "spread", ""], runs)
    for name, message in sorted(failed.items()):
        print(f"NOT TIMED  {name}: {message}")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

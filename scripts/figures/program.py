"""Runs perp and reads what it writes; keeps the commands for the report."""

import csv
import pathlib
import shlex
import subprocess


# The report's scheme takes steps whole; perp would split one in which the mode changes.
WHOLE_STEPS = ("--set", "run.split_at_events=false")


class Failed(Exception):
    """A command that did not do what the study needs; its message is for people."""


class Program:
    """perp, with everything it writes in one folder. `commands` are those since the last `told`."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        (self.folder / "runs").mkdir(parents=True, exist_ok=True)
        self.commands = []

    def call(self, *arguments, solved=True):
        """Runs perp in the folder; returns the finished process. Raises Failed unless it solved."""
        command = [str(argument) for argument in arguments]
        self.commands.append("perp " + shlex.join(command))
        try:
            done = subprocess.run(
                [self.program, *command],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError as error:
            raise Failed(f"{self.program} cannot be started: {error.strerror}") from error
        if solved and done.returncode != 0:
            raise Failed(f"{self.commands[-1]}: exit status {done.returncode}\n{done.stderr}")
        return done

    def run(self, model, values, file, *options, split=False):
        """`perp run` into runs/FILE; its rows."""
        settings = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
        whole = () if split else WHOLE_STEPS
        self.call("run", model, *settings, *whole, *options, "-o", f"runs/{file}", "--quiet")
        return self.rows(f"runs/{file}")

    def forget(self, file):
        """Removes runs/FILE and what perp wrote beside it."""
        for path in (self.folder / "runs" / file, self.folder / "runs" / f"{file}.json"):
            path.unlink(missing_ok=True)

    def rows(self, file):
        """The rows of a CSV file as dictionaries, numbers as floats where they are numbers."""
        with open(self.folder / file, encoding="utf-8", newline="") as stream:
            return [{name: number(row[name]) for name in row} for row in csv.DictReader(stream)]

    def write(self, file, header, rows):
        """Numbers as CSV, with every digit."""
        with open(self.folder / file, "w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header)
            writer.writerows([repr(x) if isinstance(x, float) else x for x in row] for row in rows)

    def told(self):
        """The commands since the last call, in order, each once."""
        commands, self.commands = list(dict.fromkeys(self.commands)), []
        return commands


def number(text):
    try:
        return float(text)
    except ValueError:
        return text

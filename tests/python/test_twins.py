"""Every command of a console block in the documents has a Python twin with the same numbers, to the bit."""

import csv
import io
import json
import pathlib
import re
import shlex
import shutil
import sys

import numpy as np
import pytest
from conftest import ROOT

import perp

sys.path.insert(0, str(ROOT / "scripts"))
import check_readme  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "models" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SPLIT = re.compile(r"\s*(?:\||;|&&|>)\s*(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)")  # not within quotes
QUESTIONS = {"run", "solutions", "jumps", "equilibria", "check", "modes", "mlcp", "converge", "map", "sensitivities", "enclose", "sweep", "list",
             "multilinear"}
IGNORED = {"-o", "--output", "--plot", "--plot-phase", "--plot-variables", "--plot-layers", "--plot-starts", "--plot-log", "--plot-with", "--checkpoint", "--events", "--tube", "--threads", "--jobs"}
FLAGS = {"--pieces", "--quiet", "--all", "--json", "--tangents", "--virtual", "--whole-steps", "--nearest", "--exact", "--double", "--zip", "--options", "--cross-check", "--keep"}


def numbers_of(text):
    return [float(part) for part in text.split(",")]


def assignments(text):
    """NAME=VALUE,... at the commas outside of parentheses."""
    pairs = re.split(r",(?![^(\[]*[)\]])", text)
    return {name.strip(): value.strip() for name, value in (pair.split("=", 1) for pair in pairs)}


def commands():
    """(page, command, files of the page) of every command that asks a question."""
    for page in PAGES:
        text = page.read_text()
        found = []
        for match in check_readme.FENCE.finditer(text):
            if match[2].strip() != "console":
                continue
            for command, _ in check_readme.commands(match[3]):
                for part in SPLIT.split(command.replace("\n", " ")):
                    part = re.sub(r"\s2$", "", part) if "2>" in command else part
                    words = shlex.split(part) if part.startswith("scripts/perp ") else []
                    if len(words) > 2 and words[1] in QUESTIONS and not {"--help", "--merge"} & set(words) and words[1:] not in found:
                        found.append(words[1:])
        for words in found:
            yield page, words


COMMANDS = list(commands())


def parsed(words):
    """Verb, arguments by place, options (lists of values)."""
    verb, *rest = words
    places, options = [], {}
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and not re.match(r"-[\d.]", word):
            name, equals, value = word.partition("=")
            is_flag = name in FLAGS or (verb == "sweep" and name == "--resume")
            value = True if is_flag else value if equals else rest.pop(0)
            options.setdefault(name, []).append(value)
        else:
            places.append(word)
    return verb, places, options


def keywords(options, names):
    """Options that are keywords of the same name, and the replaced values."""
    result = {}
    for name in names:
        if "--" + name in options:
            result[name.replace("-", "_")] = options["--" + name][0]
    return result


def model_of(places, options):
    values = {}
    for text in options.get("--set", []):
        name, value = text.split("=", 1)
        values[name] = value
    model = perp.load(places[0])
    return model.replace({k.removeprefix("run."): v for k, v in values.items()}) if values else model


RUN = ("h", "scheme", "tol", "selector", "policy", "theta", "solver", "cross-check")


def same(result, text):
    header, *rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == len(result.t)
    for k, name in enumerate(header):
        column = [row[k] for row in rows]
        if name == "mode":
            assert result.mode_text == column
        else:
            np.testing.assert_array_equal(result[name] if name != "t" else result.t, [float(v) for v in column], err_msg=name)


def thinned(result, text, every):
    """A run that keeps its mode or changes it between two steps: its rows are those of every so many steps, and the last one."""
    header, *rows = list(csv.reader(io.StringIO(text)))
    taken = [*range(0, len(result.t), every), *([] if (len(result.t) - 1) % every == 0 else [len(result.t) - 1])]
    np.testing.assert_array_equal(result.t[taken], [float(row[0]) for row in rows])
    np.testing.assert_array_equal(result[header[1]][taken], [float(row[1]) for row in rows])


def question(options):
    at = assignments(options["--at"][0]) if "--at" in options else None
    return {"at": at, **({"t": float(options["--t"][0])} if "--t" in options else {})}


def run(program, places, options, words):
    model = model_of(places, options)
    if options.get("--scheme") == ["enclosure"]:
        pytest.skip("bounds: see the twins of enclose")
    kept = [word for word in words if word not in ("--all", "--quiet")]
    for name in (IGNORED | {"--resume"}) & set(options):
        k = kept.index(name)
        del kept[k:k + 2]
    arguments = keywords(options, RUN)
    if "--t" in options:
        arguments["t"] = numbers_of(options["--t"][0])
    if "--times" in options:
        arguments["t_eval"] = numbers_of(options["--times"][0])
    if "--until" in options:
        arguments["until"] = options["--until"][0]
    if "--measure" in options:
        arguments["measure"] = options["--measure"]
        if "--after" in options:
            arguments["after"] = options["--after"][0]
        lines = program(*kept, "--quiet")[0].splitlines()
        measured = perp.solve(model, **arguments).measures
        assert {line.split(" = ")[0]: float(line.split(" = ")[1]) for line in lines if " = " in line} == measured
        return
    text, errors, _ = program(*kept, "--quiet")
    if "--every" in options:  # an array is thinned by a slice
        thinned(perp.solve(model, **arguments), text, int(options["--every"][0]))
        return
    same(perp.solve(model, **arguments), text)


def resumed(program, places, options):
    """A run that is kept, and gone on with: the rows of the program's without."""
    arguments = keywords(options, RUN)
    whole = perp.solve(model_of(places, options), checkpoint="kept", checkpoint_every=0, **arguments)
    rows = program("run", *places, *(f"--{name.replace('_', '-')}={value}" for name, value in arguments.items()), "--quiet")[0]
    for result in (whole, perp.resume("kept")):
        same(result, rows)


def as_text(answer, program, words):
    words = [word for word in words if word != "--json"]
    assert answer.text() == program(*words)[0]


def solutions(program, places, options, words):
    more = keywords(options, ("h", "scheme", "selector", "solver", "theta", "tol"))
    for name, key in (("--tree", "tree"), ("--max-nodes", "max_nodes")):
        if name in options:
            more[key] = int(options[name][0])
    if "--mode" in options:
        more["mode"] = options["--mode"][0].split(",")
    answer = perp.solutions(model_of(places, options), **question(options), **more)
    text = program(*[word for word in words if word != "--json"])[0]
    assert answer.text() in text if "tree" in more else answer.text() == text


def jumps(program, places, options, words):
    as_text(perp.jumps(model_of(places, options), **question(options)), program, words)


def equilibria(program, places, options, words):
    more = {"tangents": "--tangents" in options, "virtual": "--virtual" in options}
    more.update({key: int(options["--" + key][0]) for key in ("starts", "seed") if "--" + key in options})
    as_text(perp.equilibria(model_of(places, options), **question(options), **more), program, words)


def check(program, places, options, words):
    arguments = keywords(options, RUN)
    if "--t" in options:
        arguments["t"] = numbers_of(options["--t"][0])
    as_text(perp.check(model_of(places, options), **arguments), program, words)


def modes(program, places, options, words):
    previous = {k: float(v) for k, v in assignments(options["--previous"][0]).items()} if "--previous" in options else None
    answer = perp.modes(model_of(places, options), **question(options), previous=previous)
    text = program(*dict.fromkeys([*words, "--json"]))[0]
    assert answer.to_dict() == json.loads(text)


def mlcp(program, places, options, words):
    more = {"nearest": "--nearest" in options, "solver": options.get("--solver", [None])[0]}
    assert perp.mlcp(file=places[0], **more).to_dict() == json.loads(program(*words)[0])


def lengths(text):
    if ":" not in text:
        return numbers_of(text)
    first, last, count = map(float, text.split(":"))
    return [first if k == 0 else last if k + 1 == count else first * (last / first) ** (k / (count - 1)) for k in range(int(count))]


def converge(program, places, options, words):
    more = keywords(options, ("selector", "scheme", "reference", "theta", "tol"))
    for name in ("schemes", "selectors", "error"):
        if "--" + name in options:
            more[name] = options["--" + name][0].split(",")
    if "--t" in options:
        more["t"] = numbers_of(options["--t"][0])
    if "." in more.get("reference", ""):
        pytest.skip("a reference in a file is of the program")
    study = perp.converge(places, lengths(options["--h"][0]), whole_steps="--whole-steps" in options, **more)
    text = program(*[word for word in without_files(words, options)])[0]
    assert study.text() == text


def without_files(words, options):
    kept = list(words)
    for name in IGNORED & set(options):
        k = kept.index(name)
        del kept[k:k + 2]
    return kept


def map_(program, places, options, words):
    over = {}
    for text in options["--vary"]:
        name, values = text.split("=")
        first, last, count = values.split(":")
        over[name] = np.linspace(float(first), float(last), int(count))
    at = [assignments(text) for text in options.get("--at", [])] or None
    what = options.get("--what", ["solutions"])[0]
    found = perp.map(model_of(places, options), over, what=what, at=at, **keywords(options, ("h", "selector", "scheme")))
    _, *rows = list(csv.reader(io.StringIO(program(*without_files(words, options))[0])))
    flat = [values.ravel() for values in found.columns.values()]
    for k, row in enumerate(rows):
        index = np.unravel_index(k, found.shape)
        assert [float(v) for v in row[:len(over)]] == [found.axes[name][i] for name, i in zip(over, index)]
        np.testing.assert_array_equal([float(v) if v else np.nan for v in row[len(over):-1]], [values[k] for values in flat])
        assert row[-1] == found.regions[found.region[index]]


def sensitivities(program, places, options, words):
    more = keywords(options, ("h", "tol", "policy"))
    if "--times" in options:
        more["t_eval"] = numbers_of(options["--times"][0])
    r = perp.sensitivities(model_of(places, options), wrt=options["--wrt"][0].split(",") if "--wrt" in options else None, **more)
    header, *rows = list(csv.reader(io.StringIO(program(*without_files(words, options), "--quiet")[0])))
    first = next(k for k, name in enumerate(header) if re.match(r"dx\d+_d", name))
    n, q = len(r.names), len(r.quantities)
    found = np.array([[float(v) if v else np.nan for v in row[first:first + n * q]] for row in rows]).reshape(-1, n, q)
    np.testing.assert_array_equal(r.dy.transpose(1, 0, 2), found)


def enclose(program, places, options, words):
    more = {"times": numbers_of(options["--times"][0])} if "--times" in options else {}
    if "--pieces-max" in options:
        more["pieces"] = int(options["--pieces-max"][0])
    if "--order" in options:
        more["order"] = int(options["--order"][0])
    arguments = keywords(options, ("h",))
    if "--t" in options:
        arguments["t"] = numbers_of(options["--t"][0])
    by_pieces = "--pieces" in options
    enclosure = perp.enclose(model_of(places, options), paving=by_pieces, **more, **arguments)
    header, *rows = list(csv.reader(io.StringIO(program(*without_files(words, options), "--quiet")[0])))
    for number, found in enumerate(enclosure.paving if by_pieces else [enclosure]):
        own = [row for row in rows if not by_pieces or int(row[header.index("piece")]) == number]
        assert [float(row[0]) for row in own] == found.t.tolist()
        for j, name in enumerate(found.names):
            for bounds, ending in ((found.lo, "_lo"), (found.hi, "_hi")):
                column = [float(row[header.index(name + ending)] or "nan") for row in own]
                np.testing.assert_array_equal(bounds[:, j], column)


def sweep(program, places, options, words):
    over, random = ({name: values for name, values in (text.split("=", 1) for text in options.get(key, []))} for key in ("--vary", "--random"))
    more = keywords(options, ("h", "scheme", "tol", "after", "section", "follow", "sampling"))
    more.update({key: int(options["--" + key][0]) for key in ("runs", "seed", "skip") if "--" + key in options})
    if "--keep" in options:
        more.update(keep=True, **({"times": numbers_of(options["--times"][0])} if "--times" in options else {}))
    over = {name: values if ":" in values else numbers_of(values) for name, values in over.items()}
    found = perp.sweep(model_of(places, options), over, options.get("--measure"), random=random, zip="--zip" in options, **more)
    found.save("twin.csv")
    _, errors, status = program(*[word for word in without_files(words, options) if word != "--resume"], "-o", "program.csv", "--quiet")
    assert status in (0, 3), errors
    for end in (".csv", *((".trajectories.csv",) if "--keep" in options else ())):
        assert pathlib.Path("twin" + end).read_bytes() == pathlib.Path("program" + end).read_bytes()


def list_(program, places, options, words):
    assert perp.listing(places[0], options="--options" in options) == program(*words)[0]


def multilinear(program, places, options, words):
    form = perp.multilinear(model_of(places, options))
    text, folder = form.text(), options.get("-o", [None])[0]
    at, near = (values_of(options.get(name)) for name in ("--at", "--linearize"))
    text += "" if at is None else form.at(at).text()
    text += "" if near is None else form.linearize(near).text()
    assert text == program(*words)[0]
    if folder:
        form.save("twin", near)
        names = sorted(file.name for file in pathlib.Path(folder).iterdir())
        assert names == sorted(file.name for file in pathlib.Path("twin").iterdir())
        for name in names:
            assert (pathlib.Path("twin") / name).read_bytes() == (pathlib.Path(folder) / name).read_bytes()


def values_of(given):
    return None if given is None else {name: float(value) for name, value in assignments(given[0]).items()}


TWINS = {"list": list_, "multilinear": multilinear, "sweep": sweep, "run": run, "solutions": solutions, "jumps": jumps, "equilibria": equilibria, "check": check, "modes": modes, "mlcp": mlcp,
         "converge": converge, "map": map_, "sensitivities": sensitivities, "enclose": enclose}


def make_before(page, words, program):
    """The commands of the page before this one, which write files that it reads."""
    for of, before in COMMANDS:
        if of == page and before == words:
            return
        if of == page and before[0] in ("multilinear", "run") and {"-o", "--output"} & set(before):
            program(*before)


@pytest.mark.parametrize("page, words", COMMANDS, ids=[f"{page.stem}-{' '.join(words)}" for page, words in COMMANDS])
def test_a_command_has_a_twin_with_its_numbers(page, words, tmp_path, monkeypatch, program):
    shutil.copytree(ROOT / "models", tmp_path / "models", ignore=lambda folder, names: [n for n in names if "." not in n])
    text = page.read_text()
    for match in check_readme.FENCE.finditer(text):
        kind, block = match[2].strip(), match[3]
        name = check_readme.FILE_LINE.match(block) or check_readme.FILE_COMMENT.search(text, 0, match.start())
        if kind in ("toml", "json") and name:
            (tmp_path / name[1]).write_text(block)
    monkeypatch.chdir(tmp_path)
    verb, places, options = parsed(words)
    if verb != "list" and any(not pathlib.Path(place).exists() and place not in perp.models() for place in places):
        make_before(page, words, program)
    if verb == "run" and "--resume" in options:
        resumed(program, places, options)
        return
    if program(*words)[2] == 2:  # wrong input, there and here
        with pytest.raises(perp.PerpError):
            TWINS[verb](program, places, options, words)
        return
    TWINS[verb](program, places, options, words)


def test_there_are_many_commands():
    assert len(COMMANDS) > 50 and {words[0] for _, words in COMMANDS} == QUESTIONS

"""Questions: the answers are those of the program."""

import csv
import html as markup
import io
import json
import math

import numpy as np
import pytest

import perp


def without_place(members):
    """The JSON of the program but for what names the file."""
    return {key: value for key, value in members.items() if key not in ("model", "describe", "choice_is_listed", "choice_message",
                                                                     "message", "proof", "proved")}


def asked(program, *arguments):
    text, errors, status = program(*arguments)
    assert status in (0, 3), errors
    return json.loads(text)


def test_solutions_of_a_step_are_those_of_the_program(program):
    s = perp.solutions("switching_dae_repulsive", at={"x1": 0, "x2": -1}, h=0.1)
    assert len(s) == 2 and s.kind == "several" and s.complete and "complete enumeration" in s.reason
    np.testing.assert_allclose(s[0].x, [0, -0.95, 1], atol=1e-15)
    assert s[0].mode == "mode 3 (sliding)" and s[0].norm == pytest.approx(0.05) and s.chosen.norm == s[0].norm
    assert s[0].lam.shape == (1,)
    found = asked(program, "solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-1", "--h", "0.1", "--json")
    assert without_place(s.to_dict()) == without_place(found)
    printed, _, _ = program("solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-1", "--h", "0.1")
    assert s.text() == printed


def test_a_step_without_solution_and_the_present_mode():
    none = perp.solutions("switching_dae_no_solution", at={"x1": 0, "x2": -1}, h=0.1)
    assert len(none) == 0 and none.kind == "none" and none.chosen is None and none.complete
    s = perp.solutions("switching_dae_repulsive", at={"x1": 0, "x2": -1}, h=0.1, mode="mode 1 (x1 < 0)")
    assert s.present_mode == "[mode 1 (x1 < 0)]" or "mode 1" in s.present_mode
    assert perp.solutions("switching_dae_repulsive", at={"x1": 0, "x2": -1}, h=0.1, mode=[1]).present_mode == s.present_mode
    with pytest.raises(perp.InvalidInput, match="expected 1 branches"):
        perp.solutions("switching_dae_repulsive", mode=[1, 2])


def test_steps_that_are_searched_say_found():
    s = perp.solutions("branch", h=0.1)
    assert s.kind == "2 found" and not s.complete


def test_trees_of_steps(program):
    tree = perp.solutions("switching_dae_repulsive", at={"x1": 0, "x2": -1}, h=0.1, tree=2)
    found = asked(program, "solutions", "switching_dae_repulsive", "--at", "x1=0,x2=-1", "--h", "0.1", "--tree", "2", "--json")
    assert without_place(tree.to_dict()) == without_place(found)
    assert "4 ways of 2 steps" in tree.text()


def test_jumps_are_those_of_the_program(program):
    jumps = perp.jumps("switching_dae_jump", at={"x1": 0, "x2": -1})
    assert len(jumps) == 1 and jumps.kind == "unique" and jumps.proved
    np.testing.assert_allclose(jumps[0].x[:2] if len(np.shape(jumps[0].x)) else [2, 3], [2, 3])
    assert jumps[0].amplitude == pytest.approx(math.sqrt(20))
    found = asked(program, "jumps", "switching_dae_jump", "--at", "x1=0,x2=-1", "--json")
    assert without_place(jumps.to_dict()) == without_place(found)


def test_equilibria_are_those_of_the_program(program):
    all_points = perp.equilibria("filippov_dae", tangents=True, virtual=True)
    found = asked(program, "equilibria", "filippov_dae", "--tangents", "--virtual", "--json")
    assert without_place(all_points.to_dict()) == without_place(found)
    points = perp.equilibria("filippov_dae")
    assert all(point.kind != "virtual" for point in points)
    pseudo = next(point for point in points if point.kind == "pseudo")
    np.testing.assert_allclose(pseudo.eigenvalues, [0.875], rtol=1e-9)
    with pytest.raises(perp.InvalidInput, match="no effect with starts=1"):
        perp.equilibria("filippov_dae", starts=1, seed=3)


def test_one_mixed_complementarity_problem(program, tmp_path):
    s = perp.mlcp([[-1.0]], [1.0])
    assert s.kind == "several" and s.status == "solved" and [piece.vertices.tolist() for piece in s] == [[[0.0]], [[1.0]]]
    problem = {"name": "two solutions", "p": 0, "m": 1, "Auu": [], "Aul": [], "au": [], "Alu": [[]], "All": [[-1]], "al": [1],
               "lower": [0], "upper": ["inf"]}
    (tmp_path / "problem.json").write_text(json.dumps(problem))
    found = asked(program, "mlcp", tmp_path / "problem.json")
    assert perp.mlcp(file=tmp_path / "problem.json").to_dict() == found
    assert perp.mlcp([[-1.0]], [1.0], name="two solutions").to_dict() == found
    assert perp.mlcp([[-1.0]], [1.0], nearest=True).status == "solved"
    assert perp.mlcp([[2.0]], [-1.0], solver="lemke")["lambda"].tolist() == [0.5]
    assert perp.mlcp([[-1.0]], [-1.0]).kind == "none"
    with pytest.raises(perp.InvalidInput, match="M must be 2x2"):
        perp.mlcp([[1.0]], [1.0, 2.0])
    with pytest.raises(perp.InvalidInput, match="did you mean 'lemke'"):
        perp.mlcp([[1.0]], [1.0], solver="lemk")


def test_derivatives_are_those_of_the_program(program, tmp_path):
    r = perp.sensitivities("ifdiff_canonical", wrt=["p1", "x2(0)"], tol=1e-12)
    assert r.quantities == ["p1", "x2(0)"] and r.dy.shape == (2, len(r.t), 2)
    text, _, _ = program("sensitivities", "ifdiff_canonical", "--wrt", "p1,x2(0)", "--tol", "1e-12", "-o", tmp_path / "s.csv")
    assert r.summary() in text or text.startswith(r.summary())
    header, *rows = (tmp_path / "s.csv").read_text().splitlines()
    names, last = header.split(","), rows[-1].split(",")
    for k, column in enumerate(("p1", "x02")):
        for j in range(2):
            assert r.dy[j, -1, k] == float(last[names.index(f"dx{j + 1}_d{column}")])
    np.testing.assert_allclose(r.events[0].dt, [0.82640489, 0], atol=1e-8)
    with pytest.raises(perp.InvalidInput, match="did you mean 'p1'"):
        perp.sensitivities("ifdiff_canonical", wrt="p2")


def test_orders_are_those_of_the_program(program):
    study = perp.converge("switching_dae_variant37", h=[0.1, 0.03, 0.01], reference="located", error=["end", "events"])
    text, _, _ = program("converge", "switching_dae_variant37", "--h", "0.1,0.03,0.01", "--reference", "located", "--error", "end,events")
    tail = text[text.index("h "):]
    assert tail in study.text() and abs(study.order["end"] - 1) < 0.01 and study.solved
    assert [row["h"] for row in study.variants[0].rows] == [0.1, 0.03, 0.01]
    with pytest.raises(perp.InvalidInput, match="did you mean 'events'"):
        perp.converge("chatter", h=[0.1], error="event")


def test_maps_have_the_numbers_of_the_program(program):
    over = {"B1": np.linspace(-2, 2, 9), "B2": np.linspace(-2, 2, 5)}
    found = perp.map("switching_dae_jump", over, what="ac", at={"x1": 0, "x2": -1})
    text, _, _ = program("map", "switching_dae_jump", "--vary", "B1=-2:2:9", "--vary", "B2=-2:2:5", "--what", "ac", "--at", "x1=0,x2=-1")
    header, *rows = text.splitlines()
    assert found.shape == (9, 5) and found.complete
    for k, row in enumerate(rows):
        fields = row.split(",")
        index = np.unravel_index(k, found.shape)
        assert float(fields[0]) == found.axes["B1"][index[0]] and float(fields[1]) == found.axes["B2"][index[1]]
        assert fields[-1].strip('"') == found.regions[found.region[index]]
    assert sum(found.counts().values()) == 45
    with pytest.raises(perp.InvalidInput, match="evenly spaced"):
        perp.map("switching_dae_jump", {"B1": [0, 1, 3]})
    with pytest.raises(perp.InvalidInput, match="did you mean 'B1'"):
        perp.map("switching_dae_jump", {"B11": [0, 1]}, what="ac")


def test_enclosures_hold_the_exact_solution():
    e = perp.enclose("chatter", times=[0.1, 0.5, 1.0])
    exact = np.array([perp.load("chatter").exact(t) for t in e.t])
    assert e.success and np.all(e.lo <= exact) and np.all(exact <= e.hi) and np.all(e.hi - e.lo < 1e-9)
    assert e.events[0]["kind"] == "sliding_entry" and e.events[0]["t"][0] <= 1 / 7 <= e.events[0]["t"][1]
    wide = perp.enclose("chatter", times=[0.1], x="[1.4, 1.6]")
    assert wide["x"][0][0] <= 1.2 and wide["x"][1][0] >= 1.4 - 1e-12


def test_a_paving_is_the_pieces_of_the_program(tmp_path, program):
    (tmp_path / "grow.toml").write_text('[parameters]\nm = "[0.5, 2]"\n[variables]\nx = "[1, 9]"\n[model]\nequations = ["der(x) = -m*x"]\n'
                                        '[run]\nt = [0, 2]\n')
    found = perp.enclose(str(tmp_path / "grow.toml"), times=[0, 1, 2], paving=True)
    assert len(found.paving) == found.pieces > 1
    header, *rows = list(csv.reader(io.StringIO(program("enclose", str(tmp_path / "grow.toml"), "--times", "0,1,2", "--pieces", "--quiet")[0])))
    assert len(rows) == 3 * len(found.paving)
    for row in rows:
        piece = found.paving[int(row[header.index("piece")])]
        k = piece.t.tolist().index(float(row[0]))
        assert [piece.lo[k, 0], piece.hi[k, 0]] == [float(row[header.index("x" + end)]) for end in ("_lo", "_hi")]
        for name, bounds in piece.set.items():
            assert bounds == tuple(float(row[header.index(name + end)]) for end in ("_lo", "_hi"))
    for k in range(3):
        assert min(piece.lo[k, 0] for piece in found.paving) == found.lo[k, 0]
    with pytest.raises(perp.InvalidInput, match="one point"):
        perp.enclose(str(tmp_path / "grow.toml"), paving=True, m=1, x=1)
    with pytest.raises(perp.InvalidInput, match="pieces=1"):
        perp.enclose(str(tmp_path / "grow.toml"), paving=True, pieces=1)


def test_a_check_names_what_is_not_well_posed(program):
    check = perp.load("switching_dae_repulsive").check()
    assert [mode.index for mode in check.modes] == [2, 2, 2] and not check.unique_step
    assert any("folds between" in warning for warning in check.warnings)
    printed, _, _ = program("check", "switching_dae_repulsive")
    assert check.text() == printed
    table = markup.unescape(check._repr_html_())
    assert "<table>" in table and "|C_i B|" in table and "one step: " in table
    assert all(words in table for words in [*(mode.mode for mode in check.modes), *check.warnings])
    assert perp.check("chatter").unique_step and not perp.check("chatter").warnings


def test_modes_of_binaries(tmp_path, program):
    text = """
[variables]
x = 19.5
[binaries]
on = 1
[model]
equations = ["der(x) = -0.1*(x - 5) + 4*on"]
constraints = ["(19 - x)*(1 - on) + (x - 21)*on <= 0"]
[run]
t = [0, 2]
"""
    (tmp_path / "tank.toml").write_text(text)
    found = perp.modes(tmp_path / "tank.toml", at={"x": 21}, previous={"on": 1})
    printed = asked(program, "modes", tmp_path / "tank.toml", "--at", "x=21", "--previous", "on=1", "--json")
    assert found.to_dict() == printed
    r = perp.solve(tmp_path / "tank.toml")
    assert r.success and r.x.max() <= 21 + 1e-6
    with pytest.raises(perp.InvalidInput, match="neither binaries nor constraints"):
        perp.modes("chatter")
    with pytest.raises(perp.InvalidInput, match="previous on is 2"):
        perp.modes(tmp_path / "tank.toml", previous={"on": 2})


def test_a_tree_of_solutions_is_a_list_of_its_states():
    tree = perp.solutions("switching_dae_repulsive", tree=2)
    assert len(tree) == len(tree.to_dict()["nodes"]) and tree[0].level == 0 and tree[0].x.tolist() == [0, 0, 0]
    assert tree.complete and tree.kind == "several" and tree.end_states == 2 and len(tree.edges) == len(tree.to_dict()["edges"])


def test_a_multilinear_form_has_the_values_of_its_equations():
    model = perp.Model({"x": 2.0, "y": 1.0}, ["der(x) = -x*y + 3*z", "0 = y - 2 + z"], binaries={"z": 0},
                       constraints=["(1 - x)*(1 - z) + (x - 4)*z <= 0"], t=(0, 1), h=0.1)
    form = perp.multilinear(model)
    assert form.signals == ["der(x)", "x", "y", "z"] and form.S.shape[0] == 4 and form.phi_f.shape[0] == 2
    v = {"der(x)": 0.5, "x": 1.5, "y": 2.5, "z": 1.0}
    here = form.at(v)
    products = np.prod([1 - abs(s) + s * value for s, value in zip(form.S.toarray(), v.values())], axis=0)
    np.testing.assert_allclose(here.values, np.concatenate([form.phi_f.toarray() @ products, form.phi_g.toarray() @ products]), rtol=1e-14)
    near = form.linearize(v)
    np.testing.assert_array_equal(near.E, here.jacobian.toarray()[:2, [0]] @ [[1.0, 0.0]])
    np.testing.assert_array_equal(near.A, -here.jacobian.toarray()[:2, 1:3])
    np.testing.assert_array_equal(near.C, here.jacobian.toarray()[2:, 1:3])
    with pytest.raises(perp.InvalidInput, match="did you mean 'der\\(x\\)'"):
        form.at({"der(x": 1})


def test_what_is_known_by_name_is_listed():
    forms = dict(perp.measures())
    assert "period(EVENT)" in forms and forms["mean(x)"]
    assert perp.listing("measures").startswith("measure")
    with pytest.raises(perp.InvalidInput, match="did you mean 'measures'"):
        perp.listing("measure")

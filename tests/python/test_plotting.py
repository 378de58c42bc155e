"""Pictures on matplotlib axes have the panels, the colours and the curves of the program's."""

import ast
import io

import numpy as np
import pytest

import perp
from perp.curves import curves

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402

BALL = perp.Model(name="ball", variables={"hgt": perp.var(1.0, unit="m"), "v": perp.var(0.0, unit="m/s"), "n": 0.0},
                  parameters={"e": 0.8}, equations=["der(hgt) = v", "der(v) = -9.81", "der(n) = 0"], t=(0, 3), h=0.01,
                  when=[{"condition": "hgt", "direction": -1, "set": {"v": "-e*v", "n": "n + 1"}, "name": "impact"}],
                  outputs={"E": "9.81*hgt + v^2/2"})
MASSES = perp.Model(name="masses", variables={"p": perp.var(0.5, unit="m"), "v": perp.var(0.0, unit="m/s"), "q": perp.var(-0.2, unit="m"),
                                              "u": perp.var(0.1, unit="m/s")}, t=(0, 20), h=0.01,
                    equations=["der(p) = v", "der(v) = -2*p + (q - p) - 0.4*f1 + 0.8*sin(t)", "der(q) = u", "der(u) = (p - q) - q - 0.3*f2"],
                    laws=[{"law": "f1 in sign(v)", "name": "front", "modes": ["vback", "vstick", "vforth"]},
                          {"law": "f2 in sign(u)", "name": "rear", "modes": ["uback", "ustick", "uforth"]}])
START = perp.Model(name="start", variables={"x1": -2.0, "x2": 2.0, "z": 0.0}, t=(0, 6), h=0.05,
                   equations=["der(x1) = 1 - 0.5*z", "der(x2) = z", "x2 = lam"],
                   laws=[{"law": "lam in abs_plus_sign(x1)", "name": "corner", "modes": ["L", "S", "R"]}])
MODELS = {"ball": BALL, "masses": MASSES, "start": START, "switching_dae_jump": "switching_dae_jump", "stick_slip": "stick_slip",
          "contact": perp.load("bouncing_ball_contact").replace({"run.t": "[0, 12]"}), "relay_feedback": "relay_feedback"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def masses():
    return perp.solve(MASSES)


@pytest.fixture(scope="module")
def ball():
    return perp.solve(BALL)


def literals(file):
    """The lists of a program for matplotlib."""
    found = {}
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                pass
    return found


def drawn_by_program(program, model, scheme, folder, *more):
    name = model
    if not isinstance(model, str):
        name = folder / "model.toml"
        model.save(name)
    _, errors, status = program("run", name, "--set", f"run.scheme={scheme}", "--plot", "out.svg", "--quiet", *more, cwd=folder)
    assert status in (0, 3), errors
    return literals(folder / "out_matplotlib.py")


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def hex_of(artist):
    return to_hex(artist.get_facecolor()).upper()


# Over time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, scheme", [(name, scheme) for name in MODELS for scheme in ("backward_euler", "moreau_jean", "located")
                                          if scheme == "located" or (scheme == "moreau_jean") == (name == "contact")])
def test_curves_and_their_jumps_are_those_of_the_program(name, scheme, program, tmp_path):
    result = perp.solve(MODELS[name], scheme=scheme)
    script = drawn_by_program(program, MODELS[name], scheme, tmp_path)
    columns = dict(sorted((column, name) for _, panel, _ in script["panels"] for column, name, _, _ in panel))
    rows, jumps = (np.loadtxt(io.StringIO(block), ndmin=2) for block in (tmp_path / "out.dat").read_text().split("\n\n\n")[:2])
    shown = curves(result, list(columns.values()))
    np.testing.assert_array_equal(rows[:, 0], shown.t)
    np.testing.assert_allclose(rows[:, 1:], shown.values, rtol=1e-12)
    jumps = jumps[~np.isnan(jumps).any(axis=1)].reshape(-1, 4)
    found = np.array(sorted((jump.t, jump.before, jump.after, jump.column + 2) for jump in shown.jumps)).reshape(-1, 4)
    np.testing.assert_allclose(np.array(sorted(jumps.tolist())).reshape(-1, 4), found, rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_panels_curves_and_modes_have_the_places_and_colours_of_the_program(name, program, tmp_path):
    scheme = "located" if name == "contact" else "backward_euler"
    script = drawn_by_program(program, MODELS[name], scheme, tmp_path)
    axes = np.atleast_1d(perp.solve(MODELS[name], scheme=scheme).plot())
    assert [ax.get_ylabel() for ax in axes] == [label for label, _, _ in script["panels"]]
    for ax, (_, panel, _) in zip(axes, script["panels"]):
        curves_of_panel = [line for line in ax.lines if not line.get_label().startswith("_")]
        assert [(line.get_label().removesuffix(" (algebraic)"), to_hex(line.get_color()).upper()) for line in curves_of_panel] == [
            (name, colour) for _, name, colour, _ in panel]
        bands = [(band.get_xy()[:, 0].min(), band.get_xy()[:, 0].max(), hex_of(band)) for band in ax.patches]
        wide = [(start, end, colour) for start, end, _, colour in script["modes"] if end > start]
        if len({colour for *_, colour in wide}) > 1:
            assert [colour for *_, colour in bands] == [colour for *_, colour in wide]
            np.testing.assert_allclose([band[:2] for band in bands], [band[:2] for band in wide], rtol=1e-12)


def test_different_units_and_kinds_are_in_panels_of_their_own(masses):
    axes = masses.plot(["p", "f1", "v", "der(v)", "q"])
    assert isinstance(axes, np.ndarray) and axes[0].figure is axes[-1].figure
    assert [ax.get_ylabel() for ax in axes] == ["p, q [m]", "f1", "v [m/s]", "der(v)"]
    assert axes[-1].get_xlabel() == "t" and axes[0].get_xlabel() == "" and axes[0].get_shared_x_axes().joined(axes[0], axes[-1])
    assert legend_texts(axes[0]) == ["p", "q"] and axes[0].get_title() == "masses"


def test_one_panel_is_one_pair_of_axes_and_given_axes_take_all(masses):
    assert masses.plot("p").get_ylabel() == "p [m]"
    figure, ax = plt.subplots()
    assert masses.plot(["p", "f1"], ax=ax) is ax and figure.axes == [ax]
    assert legend_texts(ax)[:2] == ["p [m]", "f1"] and "vstick | uback" in legend_texts(ax)


def test_resets_are_dotted_from_the_state_before_to_the_state_after(ball):
    hgt, v, n = ball.plot()
    assert [ax.get_ylabel() for ax in (hgt, v, n)] == ["hgt [m]", "v [m/s]", "n"]
    impacts = [e for e in ball.events if e.kind == "jump"]
    curve = v.lines[0]
    gaps = np.flatnonzero(np.isnan(curve.get_ydata()))
    assert len(gaps) == len(impacts) > 3
    np.testing.assert_array_equal(curve.get_ydata()[gaps - 1], [e.x_before[1] for e in impacts])
    np.testing.assert_array_equal(curve.get_ydata()[gaps + 1], [e.x_after[1] for e in impacts])
    dotted, = v.collections
    np.testing.assert_array_equal([segment[:, 1] for segment in dotted.get_segments()], [[e.x_before[1], e.x_after[1]] for e in impacts])
    assert dotted.get_linestyle()[0][1] is not None and to_hex(dotted.get_color()[0]) == to_hex(curve.get_color())
    assert not hgt.collections  # it does not jump


def test_a_coarse_run_passes_through_the_states_of_its_events():
    result = perp.solve(MASSES, h=0.2, t=(0, 6))
    stop = next(e for e in result.events if e.kind == "sliding_entry" and e.law == "front")
    shown = curves(result, ["v"])
    assert abs(shown.values[shown.t == stop.t][0, 0]) < 1e-12 < abs(result["v"][result.t.searchsorted(stop.t) - 1])
    assert set(result.t) <= set(shown.t)


def test_the_end_of_a_solution_is_marked():
    result = perp.solve("dead_end")
    for ax in result.plot():
        marked, = [line for line in ax.lines if to_hex(line.get_color()).upper() == "#A00000"]
        assert set(marked.get_xdata()) == {result.t[-1]} and [text.get_text() for text in ax.texts] == ["no solution"]


def test_names_and_units_stand_in_a_picture_as_they_are(recwarn):
    odd = perp.Model(name="$a$", variables={"_y": perp.var(1.0, unit="$/$")}, equations=["der(_y) = -sign(_y)"], t=(0, 2), h=0.1)
    ax = perp.solve(odd).plot("_y")
    ax.figure.canvas.draw()
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]
    assert legend_texts(ax) == [" _y"] and ax.get_ylabel() == r" _y [\$/\$]" and ax.get_title() == r"\$a\$"


def test_many_changes_of_mode_are_told_and_not_shaded():
    result = perp.solve("buck_converter", t=(0, 0.05), scheme="located")
    assert len(result.modes) > 300
    ax = np.atleast_1d(result.plot())[0]
    assert not ax.patches and "too many for bands" in ax.get_title(loc="right")


def pictures(masses, ball, ax):
    yield masses.plot(["p", "v", "f1"], ax=ax)
    yield masses.plot()
    yield masses.plot(["p", "f1", "v", "der(v)"])
    yield masses.plot_phase("p", "v", ax)
    yield ball.plot_phase("hgt", "v")
    yield masses.plot_modes()
    yield perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 9), "B2": (-2.0, 2.0, 5)}, what="ac").plot()
    yield perp.sweep("chatter", {"run.h": [0.1, 0.01]}, {"x1": "end(x)", "y1": "end(y)"}, progress=False).plot()
    yield perp.converge("chatter", h=[0.1, 0.05]).plot()
    yield perp.enclose("chatter", times=[0.1, 0.2]).plot()


def test_no_legend_covers_curves_and_all_of_it_is_on_the_picture(masses, ball):
    for ax in pictures(masses, ball, plt.subplots()[1]):
        axes = np.atleast_1d(ax)
        axes[0].figure.canvas.draw()
        page = axes[0].figure.bbox
        legends = [a for one in axes for a in one.get_children() if isinstance(a, matplotlib.legend.Legend)]
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            for one in axes:
                inside = one.patch.get_window_extent()
                assert box.x0 >= inside.x1 or box.y1 <= inside.y0 or box.y0 >= inside.y1, (one.get_ylabel(), box, inside)
            assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1
        plt.close(axes[0].figure)
    assert "data:image/png;base64," in masses._repr_html_()


# One column over another -------------------------------------------------------------------------------------------


def paths(ax):
    return [line for line in ax.lines if line.get_linestyle() == "-" and line.get_marker() == "None"]


def test_a_phase_picture_has_the_modes_in_the_colours_of_the_program(masses, program, tmp_path):
    drawn_by_program(program, MASSES, "backward_euler", tmp_path, "--plot-phase", "p,v")
    blocks = literals(tmp_path / "out_phase_matplotlib.py")["blocks"]
    ax = masses.plot_phase("p", "v")
    drawn = list((line.get_label(), to_hex(line.get_color()).upper(), line.get_linewidth()) for line in paths(ax))
    assert drawn == [(name, colour, size) for kind, name, colour, size, _, _ in blocks if kind == "line"]
    points = np.concatenate([line.get_xydata() for line in paths(ax)])
    assert {tuple(p) for p in np.stack([masses["p"], masses["v"]], axis=1)} <= {tuple(p) for p in points}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("p [m]", "v [m/s]")


def test_arrowheads_point_where_time_goes_and_the_ends_are_marked():
    spiral = perp.Model(variables={"x": 1.0, "y": 0.0}, equations=["der(x) = y - 0.1*x", "der(y) = -x - 0.1*y"], t=(0, 10), h=0.01)
    result = perp.solve(spiral)
    ax = result.plot_phase("x", "y")
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    assert len(arrows) == 5
    for arrow in arrows:
        (x, y), way = arrow.xy, np.subtract(arrow.xy, arrow.xyann)
        assert way @ (y - 0.1 * x, -x - 0.1 * y) > 0
    marks = {line.get_label(): line.get_xydata()[0] for line in ax.lines if line.get_label() in ("start", "end")}
    np.testing.assert_array_equal(marks["start"], (1, 0))
    np.testing.assert_array_equal(marks["end"], (result["x"][-1], result["y"][-1]))
    assert legend_texts(ax) == ["path", "start", "end"]


def test_jumps_in_a_phase_picture_are_dotted(ball):
    ax = ball.plot_phase("hgt", "v")
    dotted, = [line.get_xydata() for line in ax.lines if line.get_linestyle() == ":"]
    impacts = [e for e in ball.events if e.kind == "jump"]
    np.testing.assert_array_equal(dotted[~np.isnan(dotted[:, 0])], [x[:2] for e in impacts for x in (e.x_before, e.x_after)])
    path, = paths(ax)
    assert np.isnan(path.get_xdata()).sum() == np.isnan(dotted[:, 0]).sum() + 1 == len(impacts) and "jump" in legend_texts(ax)


def test_modes_over_time_have_a_row_for_each_law(masses):
    ax = masses.plot_modes()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["front", "rear"]
    assert set(legend_texts(ax)) == {"front: vback", "front: vstick", "front: vforth", "rear: uback", "rear: ustick", "rear: uforth"}


def test_wrong_names_open_no_figure(masses):
    for draw in (lambda: masses.plot("zz"), lambda: masses.plot_phase("p", "zz")):
        with pytest.raises(KeyError, match="there is no column 'zz'"):
            draw()
    assert not plt.get_fignums()


def test_a_result_of_a_file_is_drawn_as_the_run(masses, tmp_path):
    masses.save(tmp_path / "r.npz")
    for drawn, again in zip(masses.plot(), perp.read(tmp_path / "r.npz").plot()):
        assert drawn.get_ylabel() == again.get_ylabel() and [hex_of(p) for p in drawn.patches] == [hex_of(p) for p in again.patches]
        for line, other in zip(drawn.lines, again.lines):
            np.testing.assert_array_equal(line.get_ydata(), other.get_ydata())


# Maps, sweeps ------------------------------------------------------------------------------------------------------


def test_the_first_axis_of_a_map_is_to_the_right(program, tmp_path):
    found = perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 5), "B2": (-2.0, 2.0, 3)}, what="ac")
    ax = found.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("B1", "B2") and legend_texts(ax) == ["unique (12)", "none (3)"]
    mesh = ax.collections[0]
    program("map", "switching_dae_jump", "--vary", "B1=-2:2:5", "--vary", "B2=-2:2:3", "--what", "ac", "--plot", "out.svg", cwd=tmp_path)
    cells = np.full((3, 5), -1)  # of the program's picture: a block for each entry of the legend, x0 x1 y0 y1
    for entry, block in enumerate((tmp_path / "out.dat").read_text().split("\n\n\n")[:2]):
        for x0, x1, y0, y1 in np.loadtxt(block.splitlines(), ndmin=2):
            cells[int((y0 + 3) / 2) : int((y1 + 3) / 2), int(x0 + 2.5) : int(x1 + 2.5)] = entry
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(3, 5), cells)
    assert mesh.get_coordinates()[..., 0].min() == -2.5 and mesh.get_coordinates()[..., 1].max() == 3
    assert [to_hex(colour).upper() for colour in mesh.cmap.colors] == ["#56B4E9", "#009E73"]


def test_a_map_over_one_axis_is_a_strip():
    ax = perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 5)}, what="ac").plot()
    assert ax.get_xlabel() == "B1" and np.ptp(ax.collections[0].get_coordinates()[..., 1]) > 0 and len(legend_texts(ax)) == 2


def test_both_directions_of_a_section_are_told_apart():
    s = perp.sweep("stick_slip", {"Fs": [0.2, 0.3, 0.4]}, section="every:1", follow="both", scheme="located", t=(0, 10), progress=False)
    up, down = s.plot().lines
    assert [to_hex(line.get_color()).upper() for line in (up, down)] == ["#0072B2", "#D55E00"]
    assert (up.get_label(), down.get_label()) == ("up", "down") and up.get_markersize() >= 1.5 and up.get_marker() == "o"
    assert len(up.get_xdata()) + len(down.get_xdata()) == len(s.section)
    assert up.axes.get_ylabel() == "x1 [m]" and s.plot(variable="x2").get_ylabel() == "x2 [m/s]"
    with pytest.raises(KeyError, match="there is no variable 'zz'"):
        s.plot(variable="zz")


def test_a_heat_map_has_its_first_axis_to_the_right_and_a_cell_for_each_run():
    s = perp.sweep("stick_slip", {"Fs": [0.4, 0.2, 0.3], "x1": [0.0, 1.0]}, {"top": "max(x1)"}, scheme="located", t=(0, 5), progress=False)
    ax = s.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Fs", "x1 [m]")
    mesh = ax.collections[0]
    assert mesh.get_cmap().name == "viridis"
    np.testing.assert_array_equal(np.asarray(mesh.get_array()).reshape(2, 3), s["top"][[1, 2, 0]].T)
    np.testing.assert_allclose(mesh.get_coordinates()[0, :, 0], [0.15, 0.25, 0.35, 0.45])


def test_a_histogram_of_one_value_is_seen():
    s = perp.sweep("stick_slip", random={"Fs": "normal(0.35, 0.02)"}, runs=8, seed=1, measure={"top": "max(x1)"}, scheme="located",
                   t=(0, 1), progress=False)
    bar, = s.plot().patches
    assert bar.get_height() == 8 and bar.get_width() > 0.01


# What goes with them -----------------------------------------------------------------------------------------------


def test_events_are_called_by_laws_names_of_resets_and_kinds(ball):
    assert set(ball.t_events) == {"impact"} and len(ball.t_events["impact"]) == len(ball.y_events["impact"]) == len(ball.events)
    start = perp.solve(START)
    assert list(start.t_events) == ["inconsistent_start", "corner"] and start.y_events["inconsistent_start"].tolist() == [[-2, 2, 0]]
    ended = perp.solve("switching_dae_no_solution")
    assert "no_solution" in ended.t_events and all(" " not in key or key in [law.name for law in ended.model.laws] for key in ended.t_events)


def test_resets_at_one_moment_are_found_by_the_name_of_each():
    both = perp.Model(variables={"x": 1.0, "y": 0.0}, equations=["der(x) = -1", "der(y) = 0"], t=(0, 1), h=0.01,
                      when=[{"condition": "x - 0.5", "direction": -1, "set": {"y": "y + 1"}, "name": "count"},
                            {"condition": "x - 0.5", "direction": -1, "set": {"x": "x + 1"}, "name": "lift"}])
    found = perp.solve(both).t_events
    assert set(found) == {"count", "lift"} and found["count"].tolist() == found["lift"].tolist()


def test_the_text_of_a_map_is_that_of_the_program(program):
    found = perp.map("switching_dae_jump", {"B1": (-2.0, 2.0, 5), "B2": (-0.3, 1e-7, 3)}, what="ac")
    table, errors, _ = program("map", "switching_dae_jump", "--vary", "B1=-2:2:5", "--vary", "B2=-0.3:1e-7:3", "--what", "ac")
    assert found.text() == errors and repr(found) == errors.rstrip()
    pd = pytest.importorskip("pandas")
    pd.testing.assert_frame_equal(found.to_pandas(), pd.read_csv(io.StringIO(table)), check_dtype=False)


def test_bounds_of_an_enclosure_are_a_table(program):
    pd = pytest.importorskip("pandas")
    table, _, _ = program("enclose", "chatter", "--times", "0.5,1")
    frame = perp.enclose("chatter", times=[0.5, 1.0]).to_pandas()
    written = pd.read_csv(io.StringIO(table))
    assert list(frame["mode"]) == list(written["mode"]) and list(frame["flag"]) == list(written["flag"])
    for name in ("t", "x_lo", "x_hi", "y_lo", "y_hi"):
        np.testing.assert_allclose(frame[name], written[name], rtol=1e-15)


def test_a_jump_has_the_mode_in_which_it_goes_on():
    found = perp.jumps("switching_dae_jump")
    assert [jump.mode for jump in found] == ["mode 1 (x1 < 0)", "mode 3 (sliding)", "mode 2 (x1 > 0)"]
    two = perp.jumps("switching_dae_repulsive", at={"x1": 0, "x2": -1})
    assert [jump.mode for jump in two] == ["mode 1 (x1 < 0); mode 3 (sliding)"] and two[0].mode in two.text()


def test_what_is_drawn_or_not_is_true_or_false():
    r = perp.solve("chatter")
    for words in ({"modes": "yes"}, {"events": 0}):
        with pytest.raises(perp.InvalidInput, match="expected True or False"):
            r.plot(["x"], **words)
        with pytest.raises(perp.InvalidInput, match="expected True or False"):
            r.plot_phase("x", "y", **{"events": "no"})


def test_a_notebook_shows_the_bands_of_an_enclosure():
    page = perp.enclose("chatter", times=[0.1, 0.2])._repr_html_()
    assert page.startswith("<pre>Enclosure of (x, y)") and "<img src=" in page
    assert "<img" not in perp.enclose("chatter", times=[0.1])._repr_html_()

"""Runs that were kept go on with the bits of the undisturbed ones."""

import numpy as np
import pytest

import perp
import perp.checkpoints

RUNS = [
    ("stick_slip", {"h": 0.002}),
    ("switching_dae_crossing", {"h": 1e-3}),
    ("relay_oscillator", {"h": 1e-3}),
    ("bouncing_ball_contact", {"scheme": "moreau_jean", "h": 1e-3}),
    ("stick_slip", {"scheme": "located", "h": 1e-3}),
    ("stick_slip", {"h": 0.001, "measure": {"m": "mean(x1)", "top": "max(x2)"}, "after": 2}),
    ("stick_slip", {"h": 0.001, "until": "sliding_entry:2"}),
]


def same(a, b):
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert (a.mode == b.mode).all() and a.modes == b.modes and a.status == b.status and a.message == b.message and a.counts == b.counts
    assert [(e.kind, e.t, e.law) for e in a.events] == [(e.kind, e.t, e.law) for e in b.events]
    assert a.measures == b.measures
    assert a.summary() == b.summary() and a.provenance == b.provenance


def solve_kept(monkeypatch, file, model, **options):
    """The run, kept at least once, however fast it is."""
    for pause in (0.008, 0.001, 0):
        monkeypatch.setattr(perp.checkpoints, "_PAUSE", pause)
        result = perp.solve(model, checkpoint=file, **options)
        if file.exists():
            return result
    raise AssertionError("no state was kept")


@pytest.mark.parametrize("model, options", RUNS, ids=[f"{name}-{'-'.join(map(str, options))}" for name, options in RUNS])
def test_a_run_goes_on_with_the_bits_of_the_undisturbed_one(model, options, tmp_path, monkeypatch):
    whole = perp.solve(model, **options)
    same(solve_kept(monkeypatch, tmp_path / "kept", model, **options), whole)
    same(perp.resume(tmp_path / "kept"), whole)


def test_replaced_values_and_times_of_rows_are_kept(tmp_path, monkeypatch):
    model = perp.load("stick_slip").replace(Fs=0.4)
    options = {"h": 0.001, "t_eval": np.linspace(0, 20, 41), "vb": 0.9}
    whole = perp.solve(model, **options)
    solve_kept(monkeypatch, tmp_path / "kept", model, **options)
    rest = perp.resume(tmp_path / "kept", checkpoint=tmp_path / "kept")
    same(rest, whole)
    same(perp.resume(tmp_path / "kept"), whole)


def test_a_file_that_is_damaged_foreign_or_missing_is_named(tmp_path, monkeypatch):
    solve_kept(monkeypatch, tmp_path / "kept", "stick_slip", h=0.001)
    text = (tmp_path / "kept").read_bytes()
    for spoiled in (text[:-1], text[:200] + b"?" + text[201:]):
        (tmp_path / "spoiled").write_bytes(spoiled)
        with pytest.raises(perp.InvalidInput, match="spoiled: it is damaged"):
            perp.resume(tmp_path / "spoiled")
    (tmp_path / "other").write_text("something")
    with pytest.raises(perp.InvalidInput, match="it is no file of perp.solve"):
        perp.resume(tmp_path / "other")
    with pytest.raises(perp.FileError, match="cannot be read"):
        perp.resume(tmp_path / "nowhere")
    monkeypatch.setattr(perp.checkpoints, "_build", lambda: "another")
    with pytest.raises(perp.InvalidInput, match="another build"):
        perp.resume(tmp_path / "kept")


@pytest.mark.parametrize("model, options, words", [
    ("stick_slip", {"checkpoint": "/nowhere/kept", "h": 0.001}, "cannot be written"),
    ("stick_slip", {"scheme": "enclosure"}, "the state of scheme enclosure"),
])
def test_what_cannot_be_kept_is_refused(model, options, words, tmp_path, monkeypatch):
    monkeypatch.setattr(perp.checkpoints, "_PAUSE", 0)
    with pytest.raises(perp.PerpError, match=words):
        perp.solve(model, **{"checkpoint": tmp_path / "kept", **options})


def test_a_run_is_kept_as_often_as_is_asked_for(tmp_path):
    (tmp_path / "kept.new").write_text("what one left that was killed")
    whole = perp.solve("stick_slip", h=0.001, checkpoint=tmp_path / "kept", checkpoint_every=0.001)
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]
    same(perp.resume(tmp_path / "kept"), whole)
    perp.solve("chatter", checkpoint=tmp_path / "never", checkpoint_every=1e9)
    assert not (tmp_path / "never").exists()
    with pytest.raises(perp.InvalidInput, match="checkpoint_every is -1; expected seconds"):
        perp.solve("chatter", checkpoint=tmp_path / "kept", checkpoint_every=-1)
    with pytest.raises(perp.InvalidInput, match="of checkpoint, which is not given"):
        perp.solve("chatter", checkpoint_every=1)
    with pytest.raises(perp.InvalidInput, match="of checkpoint, which is not given"):
        perp.resume(tmp_path / "kept", checkpoint_every=1)


def same_bounds(a, b):
    for one, other in ((a, b), *zip(a.paving, b.paving)):
        assert (one.t == other.t).all() and one.flag == other.flag and one.how == other.how and one.modes == other.modes
        np.testing.assert_array_equal(one.lo, other.lo)
        np.testing.assert_array_equal(one.hi, other.hi)
    assert a.events == b.events and (a.steps, a.pieces, a.lost, len(a.paving)) == (b.steps, b.pieces, b.lost, len(b.paving))


def states_kept(monkeypatch, call):
    """The files of a computation, in the order in which they were written."""
    kept, keep = [], perp.checkpoints.Checkpoint.keep

    def noted(self, state):
        keep(self, state)
        with open(self.file, "rb") as file:
            kept.append(file.read())

    monkeypatch.setattr(perp.checkpoints.Checkpoint, "keep", noted)
    call()
    return kept


@pytest.mark.parametrize("threads", [1, 2])
def test_an_enclosure_goes_on_with_the_bits_of_the_undisturbed_one(threads, tmp_path, monkeypatch):
    model = perp.Model(variables={"x": "[-0.5, 0.5]", "v": 1, "y": "[1, 1.1]"}, parameters={"m": "[0.3, 0.4]"}, t=(0, 3),
                       equations=["der(x) = v", "der(v) = -x - m*sign(v)", "der(y) = -y"])
    options = {"times": [0.5, 1, 3], "pieces": 12, "paving": True}
    whole = perp.enclose(model, threads=threads, **options)
    file = tmp_path / "kept"
    kept = states_kept(monkeypatch, lambda: perp.enclose(model, threads=threads, checkpoint=file, checkpoint_every=0, **options))
    assert len(kept) > 2 and len(whole.paving) > 2
    for state in (kept[0], kept[len(kept) // 2], kept[-1]):
        file.write_bytes(state)
        same_bounds(perp.resume(file), whole)
    file.write_bytes(kept[0])
    same_bounds(perp.resume(file, checkpoint=file, checkpoint_every=0), whole)
    same_bounds(perp.resume(file), whole)
    for words in ({"check": True}, {"progress": True}, {"callback": print}):
        with pytest.raises(perp.InvalidInput, match="is of runs: it has no effect on an enclosure"):
            perp.resume(file, **words)


def test_a_run_does_not_go_on_with_other_data(tmp_path):
    (tmp_path / "u.csv").write_text("t,u\n0,1\n1,2\n")
    (tmp_path / "driven.toml").write_text('[inputs]\nu = { file = "u.csv", column = "u" }\n[variables]\nx = 0.0\n'
                                          '[model]\nequations = ["der(x) = u - x"]\n[run]\nt = [0, 1]\nh = 0.001\n')
    model, file = perp.load(tmp_path / "driven.toml"), tmp_path / "kept"
    whole = perp.solve(model)
    perp.solve(model, checkpoint=file, checkpoint_every=0, callback=lambda t, x, lam, mode: t < 0.5)
    same(perp.resume(file), whole)
    (tmp_path / "u.csv").write_text("t,u\n0,1\n1,3\n")
    with pytest.raises(perp.InvalidInput, match="kept: a file that its model names, of data or of matrices, has changed"):
        perp.resume(file)

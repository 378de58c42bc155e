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

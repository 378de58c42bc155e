"""Measures of runs."""

import math

import pytest

import perp

BOOST = {"measure": {"top": "max(x2)", "middle": "mean(x1)", "T": "period(jump)"}}


def test_measures_are_numbers_by_name_and_nan_with_a_reason_where_there_is_none():
    r = perp.solve("switching_dae_crossing", **BOOST)
    assert r.measures["top"] == pytest.approx(16 / 3, abs=1e-12)
    assert math.isnan(r.measures["T"]) and "events 'jump'" in r.measure_notes["T"]
    assert list(r.measure_notes) == ["T"]
    assert "top = " in r.summary() and r.provenance["measures"][0]["formula"] == "max(x2)"


def test_a_run_keeps_its_bits_when_it_is_measured():
    plain, measured = perp.solve("stick_slip", h=0.01), perp.solve("stick_slip", h=0.01, measure="m=rms(x1)", after=2)
    assert (plain.x == measured.x).all() and plain.measures == {}


def test_the_window_may_be_a_formula_and_measures_have_three_forms():
    forms = ({"e": "mean(x1)"}, "e=mean(x1)", ["e=mean(x1)"])
    values = {perp.solve("stick_slip", h=0.01, measure=form, after="2*m").measures["e"] for form in forms}
    assert len(values) == 1


@pytest.mark.parametrize("measure, after, what", [
    ("e=mean(q)", None, "q"), ("mean(x1)", None, "NAME=EXPRESSION"), (None, 3, "measure"), ({"e": "end(x1)"}, 99, "outside of the run"),
])
def test_wrong_measures_are_refused_in_the_words_of_the_program(measure, after, what):
    with pytest.raises(perp.InvalidInput, match=what):
        perp.solve("stick_slip", measure=measure, after=after)

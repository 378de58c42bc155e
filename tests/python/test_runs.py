"""Runs: the bits of the program, rows without copies, callbacks, Ctrl-C, threads."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import perp

ZOO = perp.models()
PRINTED = ["chatter", "switching_dae_jump", "switching_dae_no_solution", "stick_slip", "bouncing_ball", "thermostat", "three_tank",
           "ifdiff_canonical", "diode_bridge", "buck_converter", "overflow_tank", "fuel_cell_standin"]


def same_as(result, columns):
    """Every column of the program's file is the same to the bit."""
    assert list(result.t) == columns["t"]
    for name, values in columns.items():
        if name == "mode":
            assert result.mode_text == values
        else:
            np.testing.assert_array_equal(result[name], values, err_msg=name)


@pytest.mark.parametrize("name", PRINTED)
def test_runs_have_the_bits_of_the_program(name, csv_of):
    same_as(perp.solve(name), csv_of("run", name))


@pytest.mark.parametrize("options", [dict(h=0.01), dict(h=0.02, selector="minimal_norm"), dict(scheme="located"),
                                     dict(scheme="located", tol=1e-6), dict(t=(0, 0.5)), dict(method="theta", theta=0.75)])
def test_options_are_those_of_the_program(options, csv_of):
    flags = []
    for key, value in options.items():
        key = {"method": "scheme"}.get(key, key)
        flags += ["--" + key, ",".join(map(str, value)) if isinstance(value, tuple) else value]
    same_as(perp.solve("chatter", **options), csv_of("run", "chatter", *flags))


def test_parameters_and_starts_are_set_as_by_set(csv_of):
    same_as(perp.solve("stick_slip", Fs=0.4, x1=0.5), csv_of("run", "stick_slip", "--set", "Fs=0.4", "--set", "x1=0.5"))
    model = perp.load("stick_slip").replace(Fs=0.4, x1=0.5)
    same_as(perp.solve(model), csv_of("run", "stick_slip", "--set", "Fs=0.4", "--set", "x1=0.5"))


def test_rows_at_given_times_are_those_of_times(csv_of):
    times = [0, 0.1, 0.25, 1]
    same_as(perp.solve("chatter", t_eval=times), csv_of("run", "chatter", "--times", "0,0.1,0.25,1"))


def test_the_chattering_model_ends_at_its_exact_solution():
    assert abs(perp.solve("chatter")["x"][-1] - 31 / 34) < 1e-12


def test_arrays_are_views_that_cannot_be_written():
    r = perp.solve("switching_dae_crossing")
    assert r.y.shape == (3, len(r.t)) and r.y.base is not None and np.shares_memory(r.y, r.x)
    assert np.shares_memory(r["x1"], r.x) and np.shares_memory(r.lam["lambda1"], r.lam.array)
    for array in (r.t, r.y, r["x1"], r.lam["lambda1"], r.w["w1"], r.mode):
        assert not array.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0
    x = r.x
    del r
    assert x[-1, 0] == perp.solve("switching_dae_crossing").x[-1, 0]  # the rows outlive the result


def test_a_jump_tells_its_states_and_a_run_its_modes():
    r = perp.solve("switching_dae_jump")
    jump = next(event for event in r.events if event.kind == "jump")
    assert jump.t == pytest.approx(0.75, abs=1e-9)
    np.testing.assert_allclose(jump.x_before[:2], [0, -1], atol=1e-12)
    np.testing.assert_allclose(jump.x_after[:2], [2, 3], atol=1e-12)
    assert [span.text for span in r.modes] == ["mode 1 (x1 < 0)", "mode 2 (x1 > 0)"]
    law = r.model.laws[0].name
    assert r.modes[0].branches == {law: "mode 1 (x1 < 0)"} and r.t_events[law][0] == jump.t
    np.testing.assert_array_equal(r.y_events[law][0], jump.x_before)
    np.testing.assert_array_equal(r.lam[law], r["lambda1"])


def test_a_solution_that_ends_is_a_result_or_raises_where_that_is_asked_for():
    r = perp.solve("switching_dae_no_solution")
    assert r.status == "no_solution" and not r.success and r.t[-1] == 15 and "no solution after t = 15" in r.message
    with pytest.raises(perp.NotSolved, match="no_solution") as caught:
        perp.solve("switching_dae_no_solution", check=True)
    np.testing.assert_array_equal(caught.value.result.y, r.y)


def test_a_callback_sees_every_step_and_may_end_the_run():
    seen = []
    r = perp.solve("chatter", callback=lambda t, x, lam, mode: seen.append((t, x.copy(), list(mode))))
    assert [t for t, _, _ in seen] == list(r.t)
    np.testing.assert_array_equal([x for _, x, _ in seen], r.x)
    np.testing.assert_array_equal([mode for _, _, mode in seen], r.mode)
    r = perp.solve("chatter", callback=lambda t, x, lam, mode: t < 0.5)
    assert r.status == "interrupted" and 0.5 <= r.t[-1] < 0.502
    with pytest.raises(ZeroDivisionError):
        perp.solve("chatter", callback=lambda t, x, lam, mode: 1 / 0)


def test_most_steps_end_a_run():
    r = perp.solve("chatter", max_steps=10)
    assert r.status == "interrupted" and "10 steps" in r.message and len(r.t) == 11


def test_control_c_ends_a_run_that_keeps_its_rows():
    before = signal.getsignal(signal.SIGINT)
    sent = []

    def interrupt():
        time.sleep(0.3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    r = perp.solve("chatter", h=1e-7, t=(0, 10), t_eval=[0, 9], progress=False)
    thread.join()
    assert r.status == "interrupted" and r.t[0] == 0 and "interrupted at t = " in r.message
    assert sent and signal.getsignal(signal.SIGINT) is before
    assert perp.solve("chatter").success  # the next run is not interrupted


def test_control_c_ends_other_questions():
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100_000):
            perp.equilibria("filippov_dae", starts=100_000)
    timer.join()


def test_a_handler_of_ones_own_raises_through_a_run():
    def handler(number, frame):
        raise LookupError("mine")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(LookupError, match="mine"):
            perp.solve("chatter", h=1e-7, t=(0, 10), t_eval=[0, 9])
    finally:
        signal.signal(signal.SIGALRM, before)


def test_threads_have_the_bits_of_sequential_runs():
    model = perp.load("stick_slip")
    forces = [0.3 + 0.01 * k for k in range(8)]
    expected = [perp.solve(model, Fs=force, t=(0, 5)).x.tobytes() for force in forces]
    found = [None] * 8

    def work(k):
        found[k] = perp.solve(model, Fs=forces[k], t=(0, 5)).x.tobytes()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == expected


def test_dense_output_has_sides_and_hits_rows():
    r = perp.solve("switching_dae_jump")
    np.testing.assert_array_equal(r.sol(r.t[3]), r.x[3])
    middle = (r.t[3] + r.t[4]) / 2
    np.testing.assert_allclose(r.sol(middle), (r.x[3] + r.x[4]) / 2, rtol=1e-14)
    assert r.sol(np.array([0.0, 0.1, 2.0])).shape == (3, 3)
    jump = next(event.t for event in r.events if event.kind == "jump")
    assert abs(r.sol(jump)[0]) < 1e-9 and abs(r.sol(jump, side="+")[0] - 2) < 1e-9
    with pytest.raises(perp.InvalidInput, match="states from 0 to 2"):
        r.sol(3.0)
    with pytest.raises(perp.InvalidInput, match="side"):
        r.sol(1.0, side="left")


def test_dense_output_of_the_located_scheme_is_as_exact_as_its_rows():
    r = perp.solve("chatter", scheme="located", h=0.5)
    t = np.array([0.05, 0.1, 0.3, 0.77])
    exact = np.array([r.model.exact(value) for value in t]).T
    np.testing.assert_allclose(r.sol(t), exact, atol=1e-9)


def test_a_result_prints_the_summary_of_the_program_in_few_lines(program):
    r = perp.solve("switching_dae_jump")
    assert len(repr(r).splitlines()) <= 12 and "status      solved" in repr(r)
    _, summary, _ = program("run", "switching_dae_jump")
    assert r.summary() == summary
    assert "<pre>" in r._repr_html_()
    many = perp.solve("stick_slip", t=(0, 200))
    assert len(repr(many).splitlines()) <= 12 and "status" in repr(many)


@pytest.mark.parametrize("name", ["chatter", "bouncing_ball", "stick_slip"])
@pytest.mark.parametrize("scheme", ["backward_euler", "located"])
def test_the_summary_is_the_one_of_the_program(name, scheme, program):
    _, summary, _ = program("run", name, "--scheme", scheme)
    assert perp.solve(name, scheme=scheme).summary() == summary


def test_provenance_is_what_the_program_writes(program, tmp_path):
    import json

    program("run", "chatter", "--h", "0.01", "-o", tmp_path / "out.csv")
    written = json.loads((tmp_path / "out.csv.json").read_text())
    found = perp.solve("chatter", h=0.01).provenance
    for key in ("version", "status", "message", "counts", "events", "laws", "run"):
        assert found[key] == written[key], key
    assert found["options"]["h"] == 0.01 and found["model"]["parameters"] == written["model"]["parameters"]


def test_every_branch_of_a_run_is_a_result():
    model = perp.Model(variables={"x": 0.0}, equations=["der(x) = sign(x)"], t=(0, 1))
    r = perp.solve(model, scheme="located", policy="all")
    assert sorted(round(branch["x"][-1], 9) for branch in r.branches) == [-1, 0, 1]
    assert all(branch.success for branch in r.branches)
    assert not r.branches_complete  # x = 0 is repelling: a solution leaves it at every time
    relay = perp.Model(variables={"x": 1.0}, equations=["der(x) = -sign(x)"], t=(0, 2))
    assert perp.solve(relay, scheme="located", policy="all").branches_complete
    with pytest.raises(perp.InvalidInput, match="policy='all'"):
        perp.solve(model, scheme="located").branches


def test_a_call_of_a_tiny_model_is_quick():
    model = perp.Model(variables={"x": 1.0}, equations=["der(x) = -x"], t=(0, 1), h=1.0)
    perp.solve(model)
    begin = time.perf_counter()
    for _ in range(200):
        perp.solve(model)
    print(f"{(time.perf_counter() - begin) / 200 * 1e6:.0f} us a call")


@pytest.mark.parametrize("name", ZOO)
def test_every_model_of_the_zoo_is_read_checked_and_written(name):
    model = perp.load(name)
    assert perp.loads(model.to_toml()) == model
    assert repr(model) and model.lowered()


def test_a_run_until_an_event_is_the_beginning_of_the_run_without():
    whole = perp.solve("stick_slip", scheme="located")
    cut = perp.solve("stick_slip", scheme="located", until="sliding_entry:2")
    n = len(cut.t)
    assert n < len(whole.t) and cut.success
    np.testing.assert_array_equal(cut.y, whole.y[:, :n])
    assert [event.t for event in cut.events] == [event.t for event in whole.events][:4]
    with pytest.raises(perp.InvalidInput, match="did you mean 'sliding_entry'"):
        perp.solve("stick_slip", until="sliding_entyr")
    with pytest.raises(perp.InvalidInput, match="until is 3; expected an event"):
        perp.solve("stick_slip", until=3)


def test_a_result_can_be_copied_to_another_process():
    import pickle

    result = perp.solve("stick_slip", t=(0, 5))
    copy = pickle.loads(pickle.dumps(result))
    assert (copy["x1"] == result["x1"]).all() and copy.status == result.status and copy.summary() == result.summary()
    assert [e.t for e in copy.events] == [e.t for e in result.events]


def test_an_event_that_did_not_happen_is_told():
    result = perp.solve("chatter", until="sliding_entry:7")
    assert "sliding_entry, number 7 did not happen" in result.message
    assert result.happened is False and not result.success and result.status == "solved"
    assert perp.solve("chatter", until="sliding_entry").happened is True
    assert perp.solve("chatter").happened is None and perp.solve("chatter").success


def test_the_solution_at_a_reset_has_both_sides():
    model = perp.Model({"p": 0.0, "z": 5.0}, ["der(p) = 1", "z = if(p < 0.5, 5, -5)"], t=(0, 2.5), h=0.25,
                       when=[{"condition": "p - 1", "direction": 1, "set": {"p": "p - 1"}}])
    for scheme in ("located", "backward_euler"):
        sol = perp.solve(model, scheme=scheme).sol
        assert sol(1.0, "-") == pytest.approx([1, -5]) and sol(1.0, "+") == pytest.approx([0, 5])
        assert sol(0.5, "+")[1] == -5


@pytest.mark.parametrize("call, words", [
    (lambda m: perp.solutions(m, at=[1, 2]), "expected values by name"),
    (lambda m: perp.Model(variables=["x"], equations=[]), "expected a dict"),
    (lambda m: perp.Model(variables={"x": 0}, equations="der(x) = -x"), "expected a list"),
    (lambda m: perp.solve(m, checkpoint=3), "expected the name of a file"),
    (lambda m: perp.solve(m, checkpoint="/no/such/folder/f"), "cannot be written"),
    (lambda m: perp.solve(m, Fs=True), "found True"),
    (lambda m: perp.solve(m, Fs=np.array([1.0, 2.0])), "found an array"),
    (lambda m: perp.law("f", [(float("nan"), 1, -1)]), "expected a finite number"),
    (lambda m: perp.sweep(m, {"Fs": np.ones((2, 2))}, {"a": "end(x1)"}), "expected one axis"),
    (lambda m: perp.sweep(m, random={"Fs": "normal(1, 1)"}, measure={"a": "end(x1)"}), "runs is missing"),
])
def test_what_a_call_does_not_take_is_one_message(call, words):
    with pytest.raises(perp.PerpError, match=words):
        call(perp.load("stick_slip"))

"""One run of a model."""

import sys

from . import _perp
from .calls import flag, question, text, texts, whole
from .errors import InvalidInput, NotSolved
from .model import RUN, ambiguity, model_of, setting
from .values import numbers_of, span_of

_MEANT = {"method": "scheme"}  # words of SciPy
_OPTIONS = ("h", "scheme", "tol", "selector", "policy", "theta", "solver", "cross_check", "split_at_events", "method")


def settings_of(t, options, parameters):
    """Overrides of [run] and of the model, as the user wrote them."""
    more = []
    if t is not None:
        t = span_of(t)
        more.append(("run.t", f"[{setting('t', t[0])[1]}, {setting('t', t[1])[1]}]", f"t={tuple(t)}"))
    more += [setting("run." + _MEANT.get(key, key), value, key) for key, value in options.items() if value is not None]
    more += [setting(key, value) for key, value in parameters.items()]
    return more


def resolved(model, more):
    """The same with the tables of names that are parameters or variables, so that they replace those of the model."""
    return [(key if "." in key else model._key(key), value, words) for key, value, words in more]


@question
def solve(model, t=None, h=None, scheme=None, tol=None, selector=None, policy=None, *, method=None, theta=None, solver=None,
          cross_check=None, split_at_events=None, t_eval=None, max_steps=None, progress=None, callback=None, check=False,
          measure=None, after=None, until=None, checkpoint=None, checkpoint_every=None, **parameters):
    """Integrates a model and returns a `Result`, as `perp run` does.

    model: a `Model`, a name of the zoo or a file; t: (start, end); h, scheme, tol, ...: the options of its run, see
    `perp.schemes()`; method: another word for scheme. t_eval: rows at these times only, which steps hit exactly.
    callback(t, x, lam, mode): called after every step; what is False ends the run. max_steps: the run ends after as many.
    progress: a bar on standard error; None: where that is a terminal. check: a run that is not solved raises `NotSolved`.
    measure: {name: formula} of mean(x), period(crossing), ... as perp run --measure, in the window that begins at `after`; the
    result has them as `.measures`. until: an event with which the run ends, "crossing" or "crossing:3". checkpoint: a
    file in which the run is kept every 10 s, or every `checkpoint_every` seconds; `perp.resume(file)` goes on from there.
    Further keywords replace parameters and starts of variables. Ctrl-C ends the run; the result has the rows so far.

    >>> import perp
    >>> r = perp.solve("chatter")
    >>> r.status, round(r["x"][-1], 12)
    ('solved', 0.911764705882)
    """
    flag(check, "check")
    if method is not None:
        if scheme is not None:
            raise InvalidInput("method and scheme are both given; expected one of them")
    model = model_of(model)
    values = (h, scheme, tol, selector, policy, theta, solver, cross_check, split_at_events, method)
    more = resolved(model, settings_of(t, dict(zip(_OPTIONS, values)), parameters))
    read = model.read(RUN, more) if more or not model.has_span else model._read
    keeper = None
    if checkpoint is not None or checkpoint_every is not None:
        from .checkpoints import keeper_in

        keeper = keeper_in(checkpoint, checkpoint_every, model, more, read.hash, {
            "t_eval": None if t_eval is None else numbers_of(t_eval, "t_eval"), "max_steps": max_steps,
            "measure": measures_of(measure), "after": after_text(after, measure) or None, "until": until})
    return run_kept(read, model, more, callback, progress, check, keeper, b"", t_eval, max_steps, measure, after, until)


def run_kept(read, model, more, callback, progress, check, keeper, state, t_eval, max_steps, measure, after, until):
    """The run of what was read, kept by a `Checkpoint` where there is one, from a state that one kept; b"": from the start."""

    def compute(arguments):
        if keeper is not None:
            arguments.keep, arguments.pause = keeper.keep, keeper.pause
        arguments.from_state = state
        return _perp.run(read, arguments)

    run = _shown(compute, read, t_eval, max_steps, callback, progress, measure, after, until)
    return _finish(run, model, more, check)


_MEASURE = "a formula, as in {'top': 'max(x)'}"


def measures_of(measure):
    """NAME=FORMULA of each of them."""
    if measure is None:
        return []
    if hasattr(measure, "items"):
        return [f"{name}={text(formula, f'measure {name}', _MEASURE)}" for name, formula in measure.items()]
    return texts(measure, "measure", _MEASURE)


def after_text(after, measure):
    if after is None:
        return ""
    if not measure:
        raise InvalidInput("after is the start of the window of measure, which is not given")
    return after if isinstance(after, str) else setting("after", after)[1]


def run_arguments(t_eval, max_steps, callback, bar, measure=None, after=None, until=None):
    most = 0 if max_steps is None else whole(max_steps, "max_steps")
    if callback is not None:
        if not callable(callback):
            raise InvalidInput(f"callback is {type(callback).__name__}; expected a function of t, x, lam, mode")
        check_call(callback, "callback", "a function of t, x, lam, mode", 0.0, None, None, None)
    times = [] if t_eval is None else numbers_of(t_eval, "t_eval")
    if t_eval is not None and not times:
        raise InvalidInput("t_eval is empty; expected times")
    return _perp.RunArguments(times, most, _answering(callback), bar, measures_of(measure), after_text(after, measure),
                              _until_text(until))


def _answering(callback):
    """The callback, whose answer is True, False or None."""
    if callback is None:
        return None

    def answering(*arguments):
        answer = callback(*arguments)
        return answer if answer is None else flag(answer, "callback returned")

    return answering


def check_call(function, name, expected, *arguments, **keywords):
    """Does a function of the user take these arguments? Told before it is called: the first step would come too late."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a function that is not written in Python nothing is known
        return
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise InvalidInput(f"{name}{signature}: {error}; expected {expected}") from None


def _until_text(until):
    if until is not None and (not isinstance(until, str) or not until):
        raise InvalidInput(f"until is {until!r}; expected an event, as in 'crossing' or 'crossing:3'")
    return until or ""


def _shown(compute, read, t_eval, max_steps, callback, progress, measure=None, after=None, until=None):
    """`compute(arguments)`, with a bar while it lasts."""
    bar = _bar(read, progress)
    try:
        return compute(run_arguments(t_eval, max_steps, callback, bar, measure, after, until))
    finally:
        if bar is not None:
            bar.clear()


def _bar(read, progress):
    if progress is not None:
        flag(progress, "progress")
    if progress is False or (progress is None and not _shows_progress()):
        return None
    from .progress import Bar

    return Bar(*read.run["t"])


def _shows_progress():
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def say_midpoints(read):
    """Which intervals of a model count with their middle; the warning has the place from which the package was called."""
    if read.midpoints:
        import warnings

        level, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
            level, frame = level + 1, frame.f_back
        warnings.warn(f"{read.file}: intervals count with their middle: {', '.join(read.midpoints)}; perp.enclose bounds all of them",
                      stacklevel=level)


def _finish(run, model, more, check):
    from .result import Result

    say_midpoints(run.model)
    result = Result(run, model, more)
    if check and not result.success:
        raise NotSolved(f"{result.status}: {result.message}", result)
    return result


@question
def sensitivities(model, wrt=None, t=None, h=None, tol=None, policy=None, *, cross_check=None, t_eval=None, max_steps=None,
                  progress=None, callback=None, check=False, **parameters):
    """A solution of scheme located with its derivatives, as `perp sensitivities`: `.dy` has shape (n, N, q).

    wrt: names of parameters, and of starts as "x(0)"; None: all of them. `.events[i].dt`: derivatives of its time.
    """
    flag(check, "check")
    if policy == "all":
        raise InvalidInput("policy='all': one solution is differentiated; expected minimal_norm, stay")
    model = model_of(model)
    options = {"h": h, "scheme": "located", "tol": tol, "policy": policy, "cross_check": cross_check}
    more = resolved(model, settings_of(t, options, parameters))
    wrt = texts(wrt, "wrt", "names of parameters and starts, as in ['mu', 'v(0)']")
    read = model.read(RUN, more)
    overrides = model.overrides(RUN, more)
    run = _shown(lambda arguments: _perp.run_sensitivities(read, model._source, RUN, overrides, wrt, arguments),
                 read, t_eval, max_steps, callback, progress)
    return _finish(run, model, more, check)


def solve_ivp(f, t_span, y0, method=None, t_eval=None, *, laws=(), args=(), names=None, parameters=None, outputs=None,
              h=None, unmodified=False, **options):
    """Integrates x' = f(t, x, *args), or x', w = f(t, x, lam, *args) with `laws`, which is traced once.

    f may use arithmetic, the functions of numpy on its numbers, and perp.if_, perp.sign, perp.max, ...: comparisons
    raise. With unmodified=True, or f = perp.unmodified(f), ordinary `if`, `min`, `max`, `abs` and loops are rewritten.
    Without h and with no other method the scheme is located, tol as in `solve`.
    """
    from .tracing import trace

    model = trace(f, y0, laws=laws, args=args, names=names, parameters=parameters, outputs=outputs, t=t_span, h=h,
                  unmodified=unmodified)
    if h is not None and model._table("h"):
        raise ambiguity("h", h, f"{model._table('h')}.h", "run.h")
    if method is None and "scheme" not in options:
        method = "located"
    return solve(model, method=method, t_eval=t_eval, **options)


__all__ = ["sensitivities", "solve", "solve_ivp"]

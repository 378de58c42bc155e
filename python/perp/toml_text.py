"""Models as TOML: what `perp.Model` and `Model.replace` write."""

import re
from collections.abc import Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def number_text(value):
    """A number so that it reads back as the same double."""
    value = float(value)
    return repr(int(value)) if value.is_integer() and abs(value) < 1e15 and str(value)[0] != "-" else repr(value)


def key_text(key):
    return key if _BARE.match(key) else quoted(key)


def quoted(text):
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c if c >= " " else f"\\u{ord(c):04x}") for c in text) + '"'


def value_text(value):
    """One value on one line."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # one number, as numpy has it
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(k)} = {value_text(v)}" for k, v in value.items()) + " }" if value else "{}"
    if hasattr(value, "__float__") and not hasattr(value, "__len__"):
        return number_text(value)
    if hasattr(value, "__iter__"):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    raise TypeError(f"{value!r}: expected a number, text, list or dict")


def _entry(key, value):
    is_long = isinstance(value, (list, tuple)) and any(isinstance(v, (str, Mapping, list, tuple)) for v in value)
    if not is_long:
        return f"{key_text(key)} = {value_text(value)}\n"
    return f"{key_text(key)} = [\n" + "".join(f"  {value_text(v)},\n" for v in value) + "]\n"


def document(tables):
    """A TOML document: scalars of `tables` first, then its tables, whose own tables stand inline."""
    text = "".join(_entry(k, v) for k, v in tables.items() if not isinstance(v, Mapping))
    for name, table in tables.items():
        if isinstance(table, Mapping):
            text += f"\n[{key_text(name)}]\n" + "".join(_entry(k, v) for k, v in table.items())
    return text.lstrip("\n")

"""Enclosure problems said otherwise: units, shifts, names, order, operators by their equivalents, further unknowns, company."""

import re
import tomllib
from decimal import Decimal, getcontext

getcontext().prec = 90
D = Decimal


def decimal(text):
    return D(str(text).strip())


def plain(value):
    """All digits of a decimal number, in the shorter of its two forms."""
    value = +value
    fixed, scientific = f"{value:f}", f"{value.normalize():E}".replace("E+", "e").replace("E", "e")
    return fixed if len(fixed) <= len(scientific) + 2 else scientific


def mapped(start, change):
    """A start, a number or an interval as text, with `change` applied to its numbers."""
    numbers = re.fullmatch(r"\[(.*),(.*)\]", str(start))
    if not numbers:
        return plain(change(decimal(start)))
    ends = sorted(change(decimal(number)) for number in numbers.groups())
    return f"[{plain(ends[0])}, {plain(ends[1])}]"


def with_name(text, name, replacement):
    """Every occurrence of a name as a word, der(name) too."""
    return re.sub(rf"(?<![A-Za-z0-9_.]){name}(?![A-Za-z0-9_(])", lambda _: replacement, text)


def arguments(text, first):
    """The arguments of a call that opens before `first`, and where it ends."""
    depth, at, parts = 1, first, []
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0 or (depth == 1 and text[at] == ","):
            parts.append(text[first:at].strip())
            first = at + 1
        at += 1
    return parts, at


class Statement:
    """A model, and how its numbers become those of the case: x = factor X + shift, t = time T."""

    def __init__(self, case):
        model = tomllib.loads(re.sub(r"(?m)^(\w+) = ([-+0-9.eE]+)$", r'\1 = "\2"', case["toml"]))  # no number is rounded
        self.parameters = dict(model.get("parameters", {}))
        self.variables = dict(model["variables"])
        self.nominal = {}
        self.laws = list(model["model"].get("laws", []))
        self.equations = list(model["model"]["equations"])
        self.when = model["model"].get("when", [])
        self.end = decimal(re.search(r"(?m)^t = \[0, (.*)\]", case["toml"]).group(1))
        self.time = D(1)
        self.columns = {name: (name, D(1), D(0)) for name in case["columns"]}
        self.times = [decimal(t) for t in case["times"]]
        self.company = []
        self.said = []

    def texts(self, change):
        """Applies it to every formula of the unknowns."""
        self.equations = [change(text) for text in self.equations]
        self.laws = [change(text) for text in self.laws]
        for entry in self.when:
            entry["condition"] = change(entry["condition"])
            entry["set"] = {name: change(text) for name, text in entry["set"].items()}

    def differential(self):
        return [name for name in self.variables if any(f"der({name})" in text for text in self.equations)]

    def text(self):
        lines = ["[parameters]"] if self.parameters else []
        lines += [f'{name} = "{value}"' for name, value in self.parameters.items()] + ["[variables]"]
        for name, start in self.variables.items():
            nominal = f", nominal = {self.nominal[name]}" if name in self.nominal else ""
            quote = '"' if "[" in str(start) else ""
            lines.append(f"{name} = {{ start = {quote}{start}{quote}{nominal} }}" if nominal else f"{name} = {quote}{start}{quote}")
        lines.append("[model]")
        if self.laws:
            lines.append("laws = [" + ", ".join(f'"{law}"' for law in self.laws) + "]")
        lines.append("equations = [" + ", ".join(f'"{equation}"' for equation in self.equations) + "]")
        for entry in self.when:
            sets = ", ".join(f'{name} = "{value}"' for name, value in entry["set"].items())
            lines.append(f'when = [{{ condition = "{entry["condition"]}", direction = {entry["direction"]}, set = {{ {sets} }}, name = "impact" }}]')
        return "\n".join(lines + ["[run]", f"t = [0, {plain(self.end / self.time)}]", f"h = {plain(self.end / self.time / 8)}"]) + "\n"


# --- restatements: each takes a statement and a source of random numbers ---


def factor_text(rng, factor):
    """(x*factor), as a formula of x = {}."""
    if factor == -1:
        return "(-{})"
    if factor < 1 and rng.random() < 0.5:
        return "({}/" + plain(1 / factor) + ")"
    return "({}*" + plain(factor) + ")" if rng.random() < 0.5 else "(" + plain(factor) + "*{})"


def scale_variable(of, rng, name, factor, shift=D(0)):
    """x = factor X + shift; resets set X."""
    product = factor_text(rng, factor) if factor != 1 else "{}"
    value = f"({product} + {plain(shift)})" if shift else product
    of.texts(lambda text: with_name(re.sub(rf"der\({name}\)", product.format("DER"), text), name, value.format(name)).replace("DER", f"der({name})"))
    of.variables[name] = mapped(of.variables[name], lambda x: (x - shift) / factor)
    for entry in of.when:
        if name in entry["set"]:
            text = entry["set"][name]
            entry["set"][name] = f"({text} - {plain(shift)})/{plain(factor)}" if shift else f"({text})/({plain(factor)})"
    of.columns = {c: (n, f * factor, f * shift + s) if n == name else (n, f, s) for c, (n, f, s) in of.columns.items()}


FACTORS = [D("1e3"), D("1e-3"), D("1e9"), D("1e-9"), D(2) ** 30, D(2) ** -30, D("0.1"), D(60), D("0.3048"), D(-1), D("1e-6")]


def exact(of, factor):
    """Are the starts decimals in these units too?"""
    return all((decimal(x) / factor) * factor == decimal(x) and len(f"{decimal(x) / factor:f}") < 80 for start in of.variables.values()
               for x in str(start).strip("[]").split(","))


def units(of, rng):
    for name in of.variables:
        factor = rng.choice([f for f in FACTORS if exact(of, f)])
        scale_variable(of, rng, name, factor)
        of.said.append(f"{name}*{plain(factor)}")
        if rng.random() < 0.5:
            of.nominal[name] = plain(1 / abs(factor)) if len(plain(1 / abs(factor))) < 40 else "1e3"


def shifts(of, rng):
    for name in of.variables:
        if rng.random() < 0.7:
            shift = rng.choice([D("273.15"), D(-1), D("0.1"), D(1000)])
            scale_variable(of, rng, name, D(1), shift)
            of.said.append(f"{name}+{shift}")


def is_double(x):
    return D(float(x)) == x


def time(of, rng):
    fits = [f for f in (D("1e-3"), D("1e-6"), D(1) / 1024, D(2) ** 20, D(2) ** -30, D("0.1"), D(16), D("1e-9"))
            if all(is_double(t / f) for t in of.times + [of.end])]
    factor = rng.choice(fits)
    of.time *= factor
    inside = factor_text(rng, factor).format("t")
    of.texts(lambda text: re.sub(r"der\((\w+)\)", rf"(der(\1)/{plain(factor)})", with_name(text, "t", inside)))
    of.said.append(f"t*{plain(factor)}")


def names(of, rng):
    fresh = [w for w in ("q", "velocity", "T_1", "aa", "Zeta", "p", "k9", "lambda_", "u_", "x", "y", "v", "mass", "omega2", "e", "B", "phi_dot", "Q_in", "i1", "alpha")]
    old = list(of.variables) + list(of.parameters)
    fresh = [name for name in fresh if name not in old]
    rng.shuffle(fresh)
    new = {name: fresh[k] if k < len(fresh) else f"n{k}" for k, name in enumerate(old)}
    rename = lambda text: re.sub(r"(?<![A-Za-z0-9_.])[A-Za-z_]\w*", lambda m: new.get(m.group(), m.group()), text)
    of.texts(rename)
    for entry in of.when:
        entry["set"] = {new[name]: text for name, text in entry["set"].items()}
    of.parameters = {new[k]: rename(str(v)) for k, v in of.parameters.items()}
    of.variables = {new[k]: v for k, v in of.variables.items()}
    of.nominal = {new[k]: v for k, v in of.nominal.items()}
    of.columns = {c: (new[n], f, s) for c, (n, f, s) in of.columns.items()}


def order(of, rng):
    of.variables = dict(sorted(of.variables.items(), key=lambda _: rng.random()))
    rng.shuffle(of.equations)
    of.said.append("order " + " ".join(of.variables))


def difference(condition):
    """w of a condition w > 0 that is one comparison, else None."""
    if re.search(r"\b(and|or|not)\b", condition) or len(re.findall(r"[<>]", condition)) != 1:
        return None
    left, sign, right = re.split(r"([<>])=?", condition)
    a, b = (left, right) if sign == ">" else (right, left)
    return f"{a.strip()} - ({b.strip()})" if b.strip() != "0" else a.strip()


WORDS = {
    "sign": [lambda w: f"(2*step({w}) - 1)", lambda w: f"if({w} > 0, 1, -1)", lambda w: f"(-sign(-({w})))", lambda w: f"if({w} < 0, -1, 1)",
             lambda w: f"sign(7*({w}))", lambda w: f"sign(({w})*0.001)"],
    "step": [lambda w: f"((1 + sign({w}))/2)", lambda w: f"if({w} >= 0, 1, 0)", lambda w: f"if(0 < {w}, 1, 0)", lambda w: f"(1 - step(-({w})))",
             lambda w: f"step(({w})/3)", lambda w: f"(0.5 + 0.5*sign({w}))"],
    "abs": [lambda w: f"max({w}, -({w}))", lambda w: f"(2*max({w}, 0) - ({w}))", lambda w: f"if({w} > 0, {w}, -({w}))", lambda w: f"(-min({w}, -({w})))",
            lambda w: f"(max({w}, 0) - min({w}, 0))", lambda w: f"(3*abs(({w})/3))"],
}


def if_forms(c, a, b):
    w = difference(c)
    forms = [f"if(not ({c}), {b}, {a})"]
    if w:
        forms += [f"if({w} > 0, {a}, {b})", f"if({w} >= 0, {a}, {b})", f"if(0 > {w}, {b}, {a})", f"({b} + ({a} - ({b}))*step({w}))",
                  f"(({a})*step({w}) + ({b})*(1 - step({w})))", f"if(2*({w}) > 0, {a}, {b})"]
        if "/(" not in a + b:  # what has a pole on its other side is not evaluated there
            forms.append(f"((({a}) + ({b}))/2 + (({a}) - ({b}))/2*sign({w}))")
    return forms


def words(of, rng):
    """Every operator by an equivalent one; those of one argument alike, since they share a law."""
    chosen = {}

    def reworded(text):
        found = re.search(r"(?<![A-Za-z0-9_])(sign|step|abs|if)\(", text)
        if not found:
            return text
        name = found.group(1)
        parts, last = arguments(text, found.end())
        parts = [reworded(part) for part in parts]
        number = chosen.setdefault((name, parts[0]), rng.randrange(1000))
        forms = if_forms(*parts) if name == "if" else [form(parts[0]) for form in WORDS[name]]
        return text[:found.start()] + forms[number % len(forms)] + reworded(text[last:])

    before = list(of.equations)
    of.equations = [reworded(text) for text in of.equations]
    for law in list(of.laws):
        name, w = re.fullmatch(r"(\w+) in step\((.*)\)", law).groups()
        k = rng.randrange(4)
        if k == 0:
            of.laws = [f"{name} in relay({w}, 0, 1)"]
        elif k == 1:
            of.laws = [f"{name} in step(5*({w}))"]
        else:
            of.laws = []
            of.texts(lambda text: with_name(text, name, f"step({w})" if k == 2 else f"(0.5 + 0.5*sign({w}))"))
    of.said.append("; ".join(e for e in of.equations if e not in before))


def sides(of, rng):
    """Equations multiplied, turned round, with everything on one side."""
    def turned(text):
        left, right = re.split(r"(?<![<>])=", text)
        k = rng.randrange(5)
        return [f"{right.strip()} = {left.strip()}", f"0 = {left.strip()} - ({right.strip()})", f"1000*({left.strip()}) = 1000*({right.strip()})",
                f"-({left.strip()})/3 = -({right.strip()})/3", f"{left.strip()} - ({right.strip()}) = 0"][k]
    of.equations = [turned(text) for text in of.equations]


def unknowns(of, rng):
    """A further unknown for a rate, or for a part of an equation."""
    name = rng.choice(of.differential())
    if rng.random() < 0.5:
        of.equations = [text.replace(f"der({name})", "rate_") for text in of.equations] + [f"der({name}) = rate_"]
    else:
        of.texts(lambda text: with_name(text.replace(f"der({name})", "DER"), name, "copy_").replace("DER", f"der({name})"))
        of.equations.append(f"copy_ = {name}")
    of.variables["rate_" if "rate_" in of.equations[-1] else "copy_"] = "0" if "rate_" in of.equations[-1] else of.variables[name]
    of.said.append(of.equations[-1])


def numbers(of, rng):
    """Parameters that are numbers written where they stand."""
    for name, value in list(of.parameters.items()):
        if "[" not in str(value):
            of.texts(lambda text: with_name(text, name, f"({value})"))
            del of.parameters[name]


def clock(of, rng):
    """Time as a state."""
    if not any(re.search(r"(?<![A-Za-z0-9_])t(?![A-Za-z0-9_(])", text) for text in of.equations):
        return
    of.texts(lambda text: with_name(text, "t", "clock_"))
    of.variables["clock_"] = "0"
    of.equations.append("der(clock_) = 1")


def company(of, rng):
    rate = plain((D(8) / of.end).quantize(D("1e-9")))
    k = rng.randrange(4)
    of.company = ["qq_"]
    if k == 0:
        of.variables["qq_"] = "1"
        of.equations.append(f"der(qq_) = -{rate}*qq_")
    elif k == 1:
        of.variables["qq_"] = "[0.99, 1.01]"
        of.equations.append(f"der(qq_) = -{rate}*sign(qq_ - 0.3)")
    elif k == 2:
        of.variables.update({"qq_": "1.1", "ww_": "0.3"})
        of.equations += [f"der(qq_) = {rate}*ww_", f"der(ww_) = -{rate}*qq_ - 0.1*{rate}*abs(ww_)"]
        of.company.append("ww_")
    else:
        of.variables.update({"qq_": "0.7", "ww_": "0"})
        of.equations += [f"der(qq_) = {rate}*(0.2 - ww_)", "ww_ = qq_ + qq_^3"]
    of.said.append(of.equations[-1])


KINDS = {"units": [units], "time": [time], "units_time": [time, units], "shifts": [shifts], "names": [names], "order": [order], "words": [words],
         "sides": [sides], "unknowns": [unknowns], "numbers": [numbers], "clock": [clock], "company": [company],
         "all": [words, numbers, sides, order, time, units, names], "company_units": [company, time, units, order]}


def restated(case, kind, rng):
    of = Statement(case)
    for change in KINDS[kind]:
        change(of, rng)
    return of

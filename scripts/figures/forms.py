"""The forms of the constraint of [RAB] side by side: (11'), (34), (36)."""

from switching_dae import largest_difference

FORMS = {
    "sliding-crossing": {
        "(11') as one law": "switching_dae_crossing",
        "(11') as an equation": "switching_dae_equations",
        "(34), a relay": "switching_dae_relay",
        "(36), an LCP": "switching_dae_crossing_lcp",
    },
    "variant (37)": {
        "(11') as one law": "switching_dae_variant37",
        "(11') as an equation": "switching_dae_variant37_equations",
        "(36), an LCP": "switching_dae_variant37_lcp",
    },
}


def forms(program, report):
    report.text(
        "## The forms of the constraint side by side",
        """The largest distance between the trajectories of a form and of (11') as one law, at the
        same grid points. Whole steps have the same solutions in every form. Where a step may be
        split at the end of a mode, the estimate of that end can depend on the form, by second order
        in h; with A = 0 nothing depends on it.""",
    )
    table = []
    for case, models in FORMS.items():
        for h in (0.9, 0.3, 0.1):
            whole = of_forms(program, models, h, split=False)
            parts = of_forms(program, models, h, split=True)
            for form in whole:
                name = f"forms, {case}, {form}, h = {h}"
                cells = [report.number(f"{name}: whole steps", whole[form])]
                cells.append(report.number(f"{name}: split steps", parts[form]))
                table.append([case, form, h, *cells])
    report.table(["case", "form", "h", "whole steps", "steps split at events"], table)
    commands = program.told()
    report.text("The first command of each kind:")
    split = next(line for line in commands if "split_at_events" not in line)
    report.commands([commands[0], split])


def of_forms(program, models, h, split):
    """For every form but the first: how far its trajectory is from that of the first."""
    kind = "split" if split else "whole"
    rows = {
        form: program.run(
            model, {}, f"forms_{model}_h_{h}_{kind}.csv", "--h", h, split=split
        )
        for form, model in models.items()
    }
    first, *others = rows
    return {form: largest_difference(rows[first], rows[form]) for form in others}

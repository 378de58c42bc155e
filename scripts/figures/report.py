"""The report of the study: text, tables, commands, and the numbers that a test can check."""


class Report:
    def __init__(self):
        self.parts = []
        self.numbers = []  # (name, value)

    def text(self, *paragraphs):
        """Paragraphs or headings; how they are broken into lines does not matter."""
        self.parts.extend(" ".join(paragraph.split()) for paragraph in paragraphs)

    def picture(self, file, meaning):
        self.parts.append(f"![{meaning}]({file})")

    def table(self, header, rows):
        lines = [header, ["---"] * len(header), *rows]
        cells = [[str(cell).replace("|", "\\|") for cell in row] for row in lines]
        self.parts.append("\n".join("| " + " | ".join(row) + " |" for row in cells))

    def commands(self, commands):
        self.parts.append("```sh\n" + "\n".join(commands) + "\n```")

    def output(self, text):
        self.parts.append("```text\n" + text.strip() + "\n```")

    def number(self, name, value):
        """Keeps a number under a name, for `numbers.csv`; returns it as text for the report."""
        self.numbers.append((name, value))
        return short(value)

    def markdown(self):
        return "\n\n".join(self.parts) + "\n"


def short(value):
    if not isinstance(value, float):
        return str(value)
    is_plain = value == 0 or 1e-2 <= abs(value) < 1e4
    return f"{value:.4g}" if is_plain else f"{value:.3g}"

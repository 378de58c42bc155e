"""The documentation site: scripts/docs builds it."""

import pathlib
import re
import xml.etree.ElementTree as xml

from pygments import token
from pygments.lexer import RegexLexer
from sphinx.util import logging

root = pathlib.Path(__file__).resolve().parent.parent
project = "perp"
release = re.search(r"project\(perp VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
version = release
html_title = f"perp {release}"

extensions = ["myst_parser", "breathe"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
source_suffix = {".md": "markdown"}

breathe_projects = {"perp": str(root / "build" / "docs" / "doxygen" / "xml")}
breathe_default_project = "perp"
breathe_default_members = ("members",)
breathe_show_include = False
primary_domain = "cpp"
highlight_language = "text"
nitpicky = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["perp.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def link_out(app, name, source):
    """Links to documents outside of docs/ become downloads, except those that are pages of the site."""
    source[0] = source[0].replace("](../REFERENCES.md)", "](references.md)")
    source[0] = re.sub(r"\[([^\]]*)\]\(((?:\.\./)+(?:[\w-]+/)*[\w-]+\.md)\)", replace_link(name), source[0])


def replace_link(name):
    folder = root / "docs" / pathlib.Path(name).parent

    def replaced(match):
        inside = (folder / match[2]).resolve().is_relative_to(root / "docs")
        return match[0] if inside else f"{{download}}`{match[1]} <{match[2]}>`"

    return replaced


class Console(RegexLexer):
    """A console block: commands after "$ ", and what they print."""

    tokens = {
        "root": [
            (r"^[$>] ", token.Generic.Prompt, "command"),
            (r"^\(exit status \d+\)\n", token.Comment),
            (r".*\n", token.Text),
        ],
        "command": [(r".*\n", token.Keyword, "#pop")],
    }


DIRECTIVES = {"enum": "doxygenenum", "typedef": "doxygentypedef", "variable": "doxygenvariable"}


COMMENTS = ("briefdescription", "detaileddescription")
logger = logging.getLogger(__name__)


def declarations(header):
    """The Breathe directives of what a header declares, in its order."""
    index = xml.parse(root / "build/docs/doxygen/xml/index.xml")
    file = next(
        entry
        for entry in index.iter("compound")
        if entry.get("kind") == "file" and locate(entry.get("refid")) == header
    )
    found = []
    for part in read(file.get("refid")).iter("innerclass"):
        if part.text.count("::") == 1:  # those within another are shown there
            compound = read(part.get("refid")).find("compounddef")
            kind, line = compound.get("kind"), int(compound.find("location").get("line"))
            found.append((line, f".. doxygen{kind}:: {part.text}\n   :members:\n   :undoc-members:\n"))
    for member in read("namespaceperp").iter("memberdef"):
        if member.find("location").get("file") != header:
            continue
        name, line = f"perp::{member.findtext('name')}", int(member.find("location").get("line"))
        if not any("".join(member.find(part).itertext()).strip() for part in COMMENTS):
            logger.warning("%s:%d: %s has no comment", header, line, name)  # Doxygen looks into classes only
        if member.get("kind") == "function":
            types = ", ".join("".join(p.find("type").itertext()) for p in member.iterfind("param"))
            found.append((line, f".. doxygenfunction:: {name}({types})\n"))
        else:
            found.append((line, f".. {DIRECTIVES[member.get('kind')]}:: {name}\n"))
    return "\n".join(text for _, text in sorted(found))


def read(refid):
    return xml.parse(root / "build/docs/doxygen/xml" / f"{refid}.xml").getroot()


def locate(refid):
    return read(refid).find("compounddef/location").get("file")


def show_headers(app, name, source):
    """<!-- header core/law.hpp --> becomes what this header declares."""
    source[0] = re.sub(
        r"<!-- header (\S+) -->",
        lambda match: f"```{{eval-rst}}\n{declarations(match[1])}\n```",
        source[0],
    )


def setup(app):
    app.add_lexer("console", Console)
    app.connect("source-read", link_out)
    app.connect("source-read", show_headers)

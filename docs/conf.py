"""The documentation site: README, the pages of ``docs``, and a reference made of docstrings and help texts.

``make docs`` builds it. Its sources are the repository itself: the relative links of a page work on the site and on
a forge.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from contextlib import redirect_stdout, suppress

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from nvdla_tb import __version__
from nvdla_tb.cli.main import main

project = "NVDLA testbench"
version = release = __version__
root_doc = "README"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = ["*.md", "docs/*.md", "docs/reference/*.rst", "networks/README.md"]
exclude_patterns = [".*", "sim_build", "build", "tb", "models", "tests", "hdl_stubs"]

myst_heading_anchors = 4
highlight_language = "none"  # of a block that names no language: commands and what they print

autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 90
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_static"]
html_additional_pages = {"index": "first.html"}
html_copy_source = False
html_show_sphinx = False

NAVIGATION = {
    "Tutorials": """
        docs/first-day
        docs/own-repository
        docs/tests-in-python
        docs/agents
        docs/pytest
        docs/drivers
        docs/reading-a-failure
    """,
    "Guides": """
        docs/plans-and-levels
        docs/coverage
        docs/explain
        docs/traces
        docs/networks
        docs/dlhdl
        docs/extending
    """,
    "Facts": """
        docs/verdicts
        docs/security
        docs/input-files
        docs/packages
        docs/reference-model
        docs/memory-formats
        docs/quality
        networks/README
    """,
    "Reference": """
        docs/reference/front-door
        docs/reference/command-line
        docs/reference/judge
        docs/reference/models
        docs/reference/extending
    """,
    "Project": """
        docs/architecture
        docs/where-to-look
        CONTRIBUTING
        CHANGELOG
    """,
}
"""All pages, in the order in which a new user needs them."""

LINK = re.compile(r"\[([^\]]*)\]\(([^)#:]+)\)")


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn a page of the repository into one of the site.

    A link to a folder becomes text, because the site has no page for it. The first page ends with the navigation, which
    is not part of the file, because a forge would show the directives.
    """
    folder = (app.srcdir / page).parent
    source[0] = LINK.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], source[0])
    if page == app.config.root_doc:
        for title, names in NAVIGATION.items():
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(names.split()) + "\n```\n"


ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]")


def name_arrays(
    app: Sphinx, what: str, name: str, item: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write the type of an array in a signature as the source does."""
    short = (text and ARRAY.sub(r"NDArray[\1]", text) for text in (signature, returned))
    return next(short), next(short)


class HelpText(SphinxDirective):
    """Show the help text of a command: ``.. help:: regress plan``."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the text in a block."""
        text = io.StringIO()
        with redirect_stdout(text), suppress(SystemExit):
            main([*shlex.split(" ".join(self.arguments)), "--help"])
        return [nodes.literal_block(text.getvalue(), text.getvalue(), language="text")]


def setup(app: Sphinx) -> None:
    """Register what the pages need besides the extensions."""
    os.environ["COLUMNS"] = "86"  # the width of help texts
    app.connect("source-read", read_page)
    app.connect("autodoc-process-signature", name_arrays)
    app.add_directive("help", HelpText)

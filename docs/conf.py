"""How the documentation site is built: `make docs`, without a network and without a warning."""

import os
import re
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tutorials' tables are small
os.environ["DIPS_DOCS"] = str(HERE)

import api_reference
from docutils import nodes

from dips import __version__

project = "dips"
author = "the dips developers"
copyright = f"2026, {author}. Apache-2.0"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "tutorials", "_templates", "**/README.txt"]
templates_path = ["_templates"]
default_role = "literal"

# API reference: one list of names, one page per name.
api_reference.write_pages(HERE / "api")
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # beside a class's page: fit, not PseudoLabelClassifier.fit
autodoc_typehints = "none"  # the docstrings say it
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Markdown
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Tutorials: Python files that run when the site is built.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "write_computation_times": False,  # that page asks the network for its scripts
    "capture_repr": ("_repr_html_", "__repr__"),
    "plot_gallery": "True",
}
copybutton_exclude = ".linenos, .gp, .go"


def _link_to_built_tutorials(app, name, source):
    """On a Git host a link to a tutorial opens the script; on the site, the page made of it."""
    source[0] = re.sub(r"\(((?:\.\./)*)tutorials/(\w+)\.py\)", r"(\1gallery/\2.rst)", source[0])


def _keep_figures_together(app, tree):
    """No line, and no line of a table's cell, ends between ± and its number, or before a percent sign."""
    is_code = nodes.literal, nodes.FixedTextElement, nodes.raw
    for text in list(tree.findall(nodes.Text)):
        if not isinstance(text.parent, is_code):
            joined = re.sub(r"(?<=\d) (?=%)|(?<=±) (?=\d)", "\u00a0", text)
            text.parent.replace(text, nodes.Text(joined))


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _link_to_built_tutorials)
    app.connect("doctree-read", _keep_figures_together)


# The look
html_theme = "pydata_sphinx_theme"
html_title = f"dips {version}"
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # the report that a tutorial writes
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "dips"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {name: [] for name in ("index", "start", "method", "compare", "changelog", "contributing", "security")}
(HERE / "_extra" / "example").mkdir(parents=True, exist_ok=True)

"""The site: pages in Markdown, a reference from docstrings, and tutorials that run while it is built."""

import os
import warnings

from vmqp import __version__

os.environ.setdefault("MPLBACKEND", "Agg")

project = "vmqp"
author = "The vmqp developers"
project_copyright = "The vmqp developers, MIT licence"
version = release = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["build", "tutorials", "paper/preface.md"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Names in single backticks are linked where the reference has them, and are plain code where not.
default_role = "py:obj"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = False  # it cannot read a signature that is put together, as that of regress

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "auto_tutorials",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,  # its page would load scripts from elsewhere
}

html_theme = "pydata_sphinx_theme"
html_title = "vmqp"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it is fetched from pages, which browsers refuse to pages that are files
html_theme_options = {
    "logo": {"text": "vmqp"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {"index": []}
html_context = {"default_mode": "auto"}

# A warning in a tutorial is a fault: what the package wants to say there is shown by the tutorial itself.
warnings.filterwarnings("error", module=r"vmqp")

# Documents at the project's root, and their pages here.
_AT_ROOT = {
    "../README.md": "index.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changes.md",
}


def _link_to_pages(app, docname, source):
    """Lead links to documents at the project's root to their pages of the site."""
    up = "../" * docname.count("/")
    for there, here in _AT_ROOT.items():
        source[0] = source[0].replace(f"]({up}{there}", f"]({up}{here}")


def _headings_of_docstrings(app, what, name, obj, options, lines):
    """Make the sections of numpydoc docstrings small headings; they would be sections of the page."""
    for row in range(len(lines) - 1):
        if lines[row] and lines[row + 1] and set(lines[row + 1]) == {"-"}:
            lines[row], lines[row + 1] = f".. rubric:: {lines[row]}", ""


def setup(app):
    """Connect what this file adds."""
    app.connect("source-read", _link_to_pages)
    app.connect("autodoc-process-docstring", _headings_of_docstrings)

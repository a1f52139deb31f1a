"""How Sphinx builds the site; `make docs` calls it on the pages that build.py has put together."""

import pegasos

project = "pegasos"
author = "The pegasos developers"
copyright = author
version = release = pegasos.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc", "myst_parser"]
root_doc = "index"

# The text of a docstring has the types in words; the signature shows names and defaults only.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"  # `name` in a docstring is code, as in Markdown

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

html_theme = "pydata_sphinx_theme"
html_title = "pegasos"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
}
html_sidebars = {"index": [], "CHANGELOG": [], "CONTRIBUTING": []}

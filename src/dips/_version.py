"""The version, and where bugs are reported, where every layer can read it."""

__version__ = "0.2.0.dev0"
ISSUES = "https://github.com/dips-ssl/dips/issues"  # as in pyproject.toml

"""Prints what the package brings along, as a CycloneDX document: ``python tools/sbom.py > sbom.cdx.json``.

Listed are the libraries that an installation without extras needs, as they are installed here.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

ROOT = "dips-ssl"


def components() -> dict[str, Any]:
    """Return the distributions that the package needs, directly or not, by name."""
    parts: dict[str, Any] = {}
    pending = [ROOT]
    while pending:
        name = pending.pop().lower().replace("_", "-")
        if name in parts:
            continue
        try:
            parts[name] = distribution(name)
        except PackageNotFoundError:
            continue  # for another platform
        needed = [r for r in parts[name].requires or [] if "extra ==" not in r]
        pending += [re.match(r"[A-Za-z0-9._-]+", r)[0] for r in needed]  # type: ignore[index]
    return parts


def main() -> None:
    """Print the document."""
    listed = [
        {
            "type": "library",
            "name": name,
            "version": about.version,
            "purl": f"pkg:pypi/{name}@{about.version}",
            "licenses": [{"license": {"name": (about.metadata.get("License-Expression") or "see its metadata")[:100]}}],
        }
        for name, about in sorted(components().items())
        if name != ROOT
    ]
    root = distribution(ROOT)
    about = {"component": {"type": "library", "name": ROOT, "version": root.version}}
    print(
        json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": about, "components": listed}, indent=1)
    )


if __name__ == "__main__":
    main()

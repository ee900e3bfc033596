"""A review inside a notebook: the page in a frame, or a table to edit; corrections come back as a data frame."""

from __future__ import annotations

import html
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from dips._files.read import read_table
from dips._review.desk import Desk
from dips._review.export import corrections_frame

if TYPE_CHECKING:
    from dips._review.server import ReviewServer

_HEIGHT = 820  # pixels
_FRAME = """
<div id="{id}"></div>
<p>Or <a href="{address}" target="_blank" rel="noopener">open it in a tab</a> on the machine of this notebook.</p>
<script>
(() => {{
  const place = document.getElementById("{id}");
  const host = ["localhost", "127.0.0.1"].includes(location.hostname) ? location.hostname : "127.0.0.1";
  fetch(`http://${{host}}:{port}/ping`, {{ mode: "no-cors" }}).then(() => {{
    const frame = document.createElement("iframe");
    frame.title = "dips review";
    frame.style.cssText = "width: 100%; height: {height}px; border: 1px solid #ccc; border-radius: 8px";
    frame.src = `http://${{host}}:{port}/#{token}`;
    place.append(frame);
  }}, () => {{
    place.textContent = "The review cannot be reached from this browser. Show .table() of this object instead.";
  }});
}})();
</script>
"""


class NotebookReview:
    """What ``review()`` returns; shown by the notebook.

    Parameters
    ----------
    desk : the review
    page : the report, as HTML; its list of suspects can be edited and saved
    server : runs in the background; None where the libraries for it are missing
    """

    def __init__(self, desk: Desk, page: str, server: ReviewServer | None = None) -> None:
        self._desk, self._page, self._server = desk, page, server

    def corrections(self, saved: str | Path | None = None) -> pd.DataFrame:
        """What was decided so far; saved to a file, ``corrections=`` of ``dips.fit`` and ``dips.audit`` takes it.

        Parameters
        ----------
        saved : path, optional
            The file that the table was saved to, if labels were corrected there.
        """
        return corrections_frame(self._desk) if saved is None else read_table(saved).columns.to_pandas()

    def table(self) -> EditableTable:
        """The report with a list that can be edited, without a server."""
        return EditableTable(self._page)

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.stop()

    def _repr_html_(self) -> str:
        if self._server is None:
            return self.table()._repr_html_()
        token = self._server.address().partition("#")[2]
        return _FRAME.format(
            id=f"dips-{secrets.token_hex(6)}", address=html.escape(self._server.address()), port=self._server.port,
            token=token, height=_HEIGHT,
        )  # fmt: skip


class EditableTable:
    """A page in a frame of its own, which can neither reach the notebook nor be reached by it."""

    def __init__(self, page: str) -> None:
        self._page = page

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="dips report" sandbox="allow-scripts allow-downloads" width="100%" height="{_HEIGHT}" '
            f'srcdoc="{html.escape(self._page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return "A report whose list of suspects can be edited; a notebook shows it."

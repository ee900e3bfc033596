"""A review inside a notebook: a frame where a server runs, a table where none can, corrections as a data frame."""

import re
import time

import pytest

from dips import audit
from dips._study import reviewing
from dips.exceptions import ReviewError
from tests.chromium import complaints, new_browser
from tests.patients import patients

from .reviews import correct


@pytest.fixture(scope="module")
def judged():
    return audit(patients(n=160, n_labeled=160, noise=0.15)[0], target="outcome", id=("patient",))


def test_corrections_come_back_and_audit_takes_them(judged, tmp_path):
    review = judged.review(tmp_path, reviewer="anna")
    try:
        rows = review._desk.queue.rows[:4]
        for row in rows:
            correct(review._desk, "anna", row)
        corrections = review.corrections()
        assert corrections.columns.tolist() == ["row", "patient", "given_label", "label", "reviewer", "time"]
        corrections.to_csv(tmp_path / "corrections.csv", index=False)
        assert review.corrections(tmp_path / "corrections.csv")["label"].tolist() == corrections["label"].tolist()
        again = audit(
            patients(n=160, n_labeled=160, noise=0.15)[0], target="outcome", id=("patient",),
            corrections=str(tmp_path / "corrections.csv"),
        )  # fmt: skip
        assert not set(again.suspects()["row"]) & set(rows)
    finally:
        review.close()


def test_without_its_libraries_there_is_a_table(judged, monkeypatch, tmp_path):
    def missing():
        raise ReviewError("A review needs uvicorn")

    monkeypatch.setattr(reviewing, "server_class", missing)
    review = judged.review(tmp_path)
    shown = review._repr_html_()
    assert shown.startswith('<iframe title="dips report" sandbox="allow-scripts allow-downloads"')
    assert "allow-same-origin" not in shown
    assert "<script" not in shown  # the page is a text inside an attribute
    assert review.corrections().empty


def test_a_page_on_this_machine_shows_it_in_a_frame(judged, tmp_path):
    """Served by another port of the same host, as a notebook is."""
    import functools
    import http.server
    import threading

    review = judged.review(tmp_path / "kept", reviewer="anna")
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{review._repr_html_()}")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.log_message = lambda *arguments: None
    notebook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=notebook.serve_forever, daemon=True).start()
    browser = new_browser(tmp_path)
    try:
        browser.get(f"http://localhost:{notebook.server_port}/notebook.html")
        for _ in range(100):
            frames = browser.find_elements("css selector", "iframe")
            if frames:
                browser.switch_to.frame(frames[0])
                if browser.find_elements("css selector", "#row-name"):
                    break
                browser.switch_to.default_content()
            time.sleep(0.05)
        row = int(browser.find_element("css selector", "#row-name").get_attribute("data-row"))
        browser.find_element("css selector", "#keep").click()
        for _ in range(100):
            if not review.corrections().empty:
                break
            time.sleep(0.05)
        assert review.corrections()["row"].tolist() == [row]
        assert [c for c in complaints(browser) if not re.search("favicon", c)] == []
    finally:
        browser.quit()
        notebook.shutdown()
        review.close()

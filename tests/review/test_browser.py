"""The app as people use it, in headless Chromium; ``make browser-test`` runs it and keeps pictures."""

import itertools
import time

import numpy as np
import pytest

from dips._report import render_difference
from dips._review.desk import Desk
from dips._review.store import EventStore
from dips._study import fit
from dips._study.between import compare_runs
from dips._study.reviewing import server_of_run
from tests.chromium import complaints, new_browser, picture, set_screen
from tests.patients import patients
from tests.report.pages import HOSTILE, hostile_table

from .reviews import correct, decide, large_material, server_in

ReviewServer = pytest.importorskip("dips._review.server", reason="the extra review is not installed").ReviewServer
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed; see make browser-test")
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
_places = (f"review-{n}" for n in itertools.count())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = new_browser(tmp_path_factory.mktemp("downloads"))
    yield driver
    driver.quit()


@pytest.fixture
def serve(finished, tmp_path):
    """Starts servers, each on a copy of the run."""
    started = []

    def start(**settings):
        server = server_in(finished, tmp_path / next(_places), **{"reviewer": "anna"} | settings)
        server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


def until(browser, script, *arguments):
    """Wait until a script answers with something true."""
    for _ in range(100):
        answer = browser.execute_script(f"return {script}", *arguments)
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"never true: {script}; the page says {said(browser)!r}")


def opened(browser, server, address=None, **screen):
    browser.get("about:blank")
    set_screen(browser, **screen)
    browser.get_log("browser")
    browser.get(address or server.address())
    until(browser, "document.body.dataset.ready")
    return browser


def press(browser, *keys):
    webdriver.ActionChains(browser).send_keys(*keys).perform()


def find(browser, selector):
    return browser.find_element("css selector", selector)


def said(browser):
    return browser.execute_script("return document.getElementById('said').textContent")


def to_row(browser, row):
    until(browser, "document.getElementById('row-name').dataset.row === String(arguments[0])", row)


def events(server):
    return [(e.row, e.action, e.label) for e in server.desk.store.events()]


def test_a_review_by_keyboard(browser, serve):
    server = serve()
    opened(browser, server)
    assert "#" not in browser.current_url  # the token has left the address
    rows, material = server.desk.queue.rows, server.desk.material
    first, second, third = rows[:3]
    to_row(browser, first)
    other = 1 - material.account["given"].iloc[material.position[first]]
    press(browser, str(other + 1))
    to_row(browser, second)
    press(browser, Keys.ENTER)
    to_row(browser, third)
    press(browser, "s")
    to_row(browser, rows[3])
    press(browser, "u")
    to_row(browser, third)
    press(browser, "k")
    to_row(browser, second)
    assert "You kept it." in find(browser, ".answered").text
    press(browser, "j", "x")
    to_row(browser, rows[3])
    expected = [(first, "label", material.classes[other]), (second, "keep", None), (third, "skip", None)]
    assert events(server) == [*expected, (third, "undo", None), (third, "unlabeled", None)]
    assert find(browser, "#progress").text.startswith(f"3 looked at · {len(rows) - 3} left · 2 wrong so far")
    assert "of the next 10 are wrong" in find(browser, "#progress").text
    assert complaints(browser) == []
    picture(browser, "review_desktop")


def test_the_row_is_shown_beside_typical_ones_with_why_it_is_a_suspect(browser, serve):
    server = serve()
    opened(browser, server)
    suspect = next(row for row in server.desk.queue.rows if row not in server.desk.queue.checks)
    press(browser, *("j" * server.desk.queue.rows.index(suspect)))
    to_row(browser, suspect)
    card = find(browser, "#card")
    assert "Suspect number 1: wrong with a probability of" in card.text
    head = [cell.text for cell in card.find_elements("css selector", ".cells thead th")]
    assert head[0] == "this row"
    assert {h.removeprefix("typical ") for h in head[1:]} == {"ill", "well"}
    assert len(card.find_elements("css selector", "polyline")) == 1
    assert len(card.find_elements("css selector", ".small-map .here")) == 1


def test_a_free_text_takes_the_width_of_the_table(browser, tmp_path):
    frame, _ = patients()
    letter = "was seen again because of the pain in the chest; " * 20
    frame["letter"] = [
        f"patient {k} {letter}end of letter {k}" for k in np.random.RandomState(0).permutation(len(frame))
    ]
    frame.to_csv(tmp_path / "letters.csv", index=False)
    run = fit(tmp_path / "letters.csv", "outcome", tmp_path / "run", time_limit=1e-6)
    server = server_of_run(run, reviewer="anna")
    server.start()
    try:
        opened(browser, server)
        cell = find(browser, ".cells td[colspan='3']")
        assert "end of letter" in cell.text
        assert cell.size["width"] > 0.7 * find(browser, ".cells").size["width"]
    finally:
        server.stop()


def test_rows_are_found_and_notes_are_kept(browser, serve):
    server = serve()
    opened(browser, server)
    row = server.desk.queue.rows[7]
    press(browser, "/")
    press(browser, server.desk.material.key_of(row))
    until(browser, "document.querySelectorAll('#found button').length === 1")
    press(browser, Keys.ENTER)
    to_row(browser, row)
    press(browser, "n")
    press(browser, "seen twice")
    find(browser, "#noting button").click()
    press(browser, Keys.ENTER)
    until(browser, "document.getElementById('said').textContent")
    assert server.desk.store.events()[-1].note == "seen twice"


def test_help_results_and_theme(browser, serve):
    server = serve()
    opened(browser, server)
    press(browser, "?")
    assert "undo the last decision" in find(browser, "#help").text
    press(browser, Keys.ESCAPE, "r")
    until(browser, "document.querySelectorAll('#exports button').length === 5")
    find(browser, "[data-export=corrections]").click()
    for _ in range(60):
        if (browser.downloads / "corrections.csv").exists():
            break
        time.sleep(0.05)
    assert (browser.downloads / "corrections.csv").read_text().startswith("row,patient,given_label,label,reviewer,time")
    press(browser, Keys.ESCAPE)
    background = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(background)
    find(browser, "#theme").click()
    assert browser.execute_script(background) != before
    assert complaints(browser) == []


def test_blinded_nothing_is_told_before_one_has_answered(browser, serve):
    server = serve(blinded=True)
    opened(browser, server)
    row = server.desk.queue.rows[0]
    to_row(browser, row)
    assert browser.find_elements("css selector", ".tag, .learned, .is-given, .is-suggested") == []
    assert "Blinded" in find(browser, "#card").text
    press(browser, Keys.ENTER)
    assert events(server) == []  # what is not seen cannot be kept
    picture(browser, "review_blinded")
    press(browser, "1")
    to_row(browser, server.desk.queue.rows[1])
    assert f"It was given as {server.desk.material.given[row]}" in said(browser)
    press(browser, "k")
    to_row(browser, row)
    assert find(browser, ".tag.given").text == f"given {server.desk.material.given[row]}"


def test_a_second_reviewer_says_a_name_and_sees_no_answers_a_third_settles(browser, serve):
    server = serve()
    row = server.desk.queue.rows[0]
    correct(server.desk, "anna", row)
    opened(browser, server)
    for name in ("bob", "carl"):
        browser.delete_all_cookies()
        browser.get("about:blank")
        browser.get(server.invitation())
        until(browser, "document.getElementById('naming').open")
        press(browser, name, Keys.ENTER)
        until(browser, "document.body.dataset.ready")
        if name == "bob":
            to_row(browser, row)
            assert find(browser, "#progress").text.startswith("0 looked at")
            assert browser.find_elements("css selector", ".answered") == []
            press(browser, Keys.ENTER)
            to_row(browser, server.desk.queue.rows[1])
    press(browser, "r")
    until(browser, "document.getElementById('settle')")
    assert "anna and bob: the same answer for 0 of 1" in find(browser, "#agreement").text
    find(browser, "#settle").click()
    until(browser, "document.getElementById('place').textContent === '1 of 1'")
    to_row(browser, row)
    press(browser, Keys.ENTER)
    until(browser, "document.getElementById('said').textContent")
    assert server.desk.decisions.settled()[row].action == "keep"


def test_two_tabs_count_one_decision_each(browser, serve):
    server = serve()
    opened(browser, server)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.get(f"http://127.0.0.1:{server.port}/")  # the cookie serves
    until(browser, "document.body.dataset.ready")
    for handle in (browser.current_window_handle, first):
        browser.switch_to.window(handle)
        press(browser, Keys.ENTER)
        until(browser, "document.getElementById('said').textContent")
    assert len(events(server)) == 2
    assert server.desk.progress("anna")["looked"] == 1  # both saw the same row
    browser.close()
    browser.switch_to.window(browser.window_handles[0])


def test_a_suggested_class_without_a_key_is_offered_nevertheless(browser, tmp_path):
    frame, _ = patients(n=260, n_labeled=260, noise=0)
    steps = (frame["age"] - 20) // 5
    names = np.array([f"from {20 + 5 * k}, and a long name that takes a button as wide as a phone" for k in range(14)])
    given = names[np.where(np.arange(260) % 8 == 0, (steps + 1 + np.arange(260) % 13) % 14, steps)]
    table = frame.assign(outcome=given, ward=(steps + 0.5))
    server = server_of_run(fit(table, target="outcome", out=tmp_path / "run", time_limit=1e-6), reviewer="Anna")
    server.start()
    opened(browser, server, width=390, height=700)
    boxes = "const [b, a] = [...arguments].map((e) => e.getBoundingClientRect());"
    inside = f"{boxes} return a.top <= b.top + 1 && b.bottom <= a.bottom + 1"
    material, offered = server.desk.material, []
    for row in server.desk.queue.rows[:25]:
        to_row(browser, row)
        code = material.account["suggested"].iloc[material.position[row]]
        is_offered = code >= 0 and code not in material.class_keys.values()
        if code >= 0:
            button = find(browser, "#answers .is-suggested:not([hidden])")
            assert button.get_attribute("title") == material.classes[code]
            assert browser.execute_script(inside, button, find(browser, "#answers"))
        offered += [(row, "label", material.classes[code])] if is_offered else []
        press(browser, "a" if is_offered else "j")
    to_row(browser, server.desk.queue.rows[25])
    assert offered
    assert events(server) == offered
    server.stop()


def test_a_phone_is_wide_enough(browser, serve):
    opened(browser, serve(), width=390, height=844, scheme="dark")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    for button in browser.find_elements("css selector", "footer button"):
        assert button.size["height"] >= 40
    picture(browser, "review_phone")
    find(browser, "#keep").click()
    until(browser, "document.getElementById('said').textContent")


def test_everything_has_a_name_for_those_who_cannot_see_it(browser, serve):
    opened(browser, serve())
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('button, input, textarea, select, svg, img, dialog')].filter((e) => "
        "!(e.textContent.trim() || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.alt))"
        ".map((e) => e.outerHTML)"
    )
    assert unnamed == []
    live = {e.get_attribute("id") for e in browser.find_elements("css selector", "[aria-live]")}
    assert {"progress", "said"} <= live


def test_without_a_token_the_page_says_where_to_get_one(browser, serve):
    server = serve()
    browser.delete_all_cookies()
    browser.get("about:blank")
    browser.get(f"http://127.0.0.1:{server.port}/#guessed")
    until(browser, "document.getElementById('alert').textContent.includes('dips review printed')")


def test_nothing_in_the_data_runs(browser, tmp_path):
    """Columns, cells, names of rows, classes, the target and the file's name are HTML, script and formulas."""
    path = tmp_path / "<img src=x onerror=window.attacked=1>.csv"
    hostile_table().to_csv(path, index=False)
    run = fit(path, HOSTILE[1], tmp_path / "run", id=(HOSTILE[5],), time_limit=1e-6)
    server = server_of_run(run, reviewer="<b>anna</b>")
    server.start()
    try:
        opened(browser, server)
        rows = server.desk.queue.rows
        press(browser, "1")
        to_row(browser, rows[1])
        press(browser, Keys.ENTER)
        to_row(browser, rows[2])
        press(browser, "/", "<script>")
        until(browser, "document.querySelectorAll('#found li').length")
        press(browser, Keys.ESCAPE, "r")
        until(browser, "document.querySelectorAll('#exports button').length")
        find(browser, "[data-export=table]").click()
        time.sleep(0.3)
        assert browser.execute_script("return window.attacked") is None
        assert browser.find_elements("css selector", "main img, main iframe, main script, main b b") == []
        assert complaints(browser) == []
    finally:
        server.stop()


def test_nothing_in_the_names_of_images_runs(browser, tmp_path):
    """Folders, which name the classes, and files are HTML and script; so is what becomes of them in a comparison."""
    pytest.importorskip("torch", reason="PyTorch is not installed, and images need it")
    from PIL import Image

    from dips import fit_images

    rng, classes = np.random.RandomState(0), ("<img src=x onerror=window.attacked=1>", "<script>window.attacked=1")
    for k in range(24):
        path = tmp_path / "images" / classes[k % 2] / f'"><svg onload=window.attacked=1>{k}.png'
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.randint(0, 256, (8, 8, 3)).astype(np.uint8)).save(path)
    quick = {"network": "tiny", "steps": 2, "curator": "percentile", "holdout": 0}
    run, after = (fit_images(tmp_path / "images", tmp_path / name, **quick, seed=k) for k, name in enumerate("ab"))
    server = server_of_run(run, reviewer="<b>anna</b>")
    server.start()
    try:
        opened(browser, server)
        press(browser, "2")
        to_row(browser, server.desk.queue.rows[1])
        press(browser, "/", "svg")
        until(browser, "document.querySelectorAll('#found li').length")
        press(browser, Keys.ESCAPE, "r")
        until(browser, "document.querySelectorAll('#exports button').length")
        assert browser.execute_script("return window.attacked") is None
        assert browser.find_elements("css selector", "main svg[onload], main script, main img[onerror]") == []
        assert complaints(browser) == []
    finally:
        server.stop()
    page = tmp_path / "compare.html"
    page.write_text(render_difference(compare_runs(run, after)), encoding="utf-8")
    browser.get(page.as_uri())
    assert browser.execute_script("return window.attacked") is None
    assert classes[0] in browser.find_element("css selector", "body").text


def test_ten_thousand_suspects_and_two_hundred_columns_make_no_delay(browser, tmp_path):
    material = large_material()
    server = ReviewServer(Desk(material, EventStore(tmp_path / "decisions.sqlite", material.checksum)), reviewer="anna")
    server.start()
    try:
        opened(browser, server)
        rows, lasted = server.desk.queue.rows, []
        for row in rows[:10]:
            to_row(browser, row)
            began = time.perf_counter()
            press(browser, Keys.ENTER)
            to_row(browser, rows[rows.index(row) + 1])
            lasted.append(time.perf_counter() - began)
        assert np.median(lasted) < 0.5
        press(browser, "f", "column_19")
        shown = "return [...document.querySelectorAll('#rest tbody tr')].filter((r) => !r.hidden).length"
        assert browser.execute_script(shown) == 11  # 19, and 190 to 199
    finally:
        server.stop()


def test_decisions_made_elsewhere_are_seen(browser, serve):
    """Two processes may serve the same run: what another one wrote is read before every answer."""
    server = serve()
    opened(browser, server)
    row = server.desk.queue.rows[0]
    decide(server.desk, "anna", row)
    press(browser, "r")
    until(browser, "document.getElementById('estimates').textContent.includes('of 1 ')")

"""The page as a person uses it, in headless Chromium; ``make browser-test`` runs it and keeps pictures."""

import base64
import time
from pathlib import Path

import pytest

from dips import read_corrections
from tests.chromium import PICTURES, complaints, new_browser, set_screen

from .pages import faultless, hostile, hostile_images, images, large, long_names, many_classes, ordinary

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed; see make browser-test")
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = new_browser(tmp_path_factory.mktemp("downloads"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return ordinary(tmp_path_factory.mktemp("page")).report


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    pytest.importorskip("torch")
    return images(tmp_path_factory.mktemp("images"))


def opened(browser, path, width=1200, scheme="light"):
    set_screen(browser, width, 900, scheme)
    browser.get_log("browser")
    browser.get(Path(path).resolve().as_uri())
    return browser


def find(browser, selector):
    return browser.find_element("css selector", selector)


def texts(browser, selector):
    return [e.text for e in browser.find_elements("css selector", selector)]


def picture(browser, name):
    if not PICTURES:
        return
    height = browser.execute_script("return document.documentElement.scrollHeight")
    width = browser.execute_script("return document.documentElement.clientWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    Path(PICTURES).mkdir(parents=True, exist_ok=True)
    Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def data(browser):
    return browser.execute_script("return JSON.parse(document.getElementById('data').textContent)")


def click_point(browser, i):
    """Click where point i is drawn, by the axes of the map."""
    points = data(browser)["points"]
    canvas = find(browser, "#canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas)
    box = browser.execute_script("const r = arguments[0].getBoundingClientRect(); return [r.width, r.height]", canvas)
    x = 56 + points["aleatoric"][i] / 1000 / (0.25 * 1.02) * (box[0] - 10 - 56)
    y = box[1] - 42 - points["confidence"][i] / 1000 * (box[1] - 42 - 10)
    action = webdriver.ActionChains(browser)
    action.move_to_element_with_offset(canvas, round(x - box[0] / 2), round(y - box[1] / 2))
    action.pause(0.1).perform()
    for _ in range(30):
        if tip := find(browser, "#tip").text:
            break
        time.sleep(0.1)
    action.click().perform()
    return tip


def saved(browser, button="export", name="suspects.csv"):
    """Lines of the list, saved."""
    path = browser.downloads / name
    path.unlink(missing_ok=True)
    find(browser, f"#{button}").click()
    for _ in range(50):
        if path.exists() and path.stat().st_size:  # the browser makes the file before it fills it
            break
        time.sleep(0.1)
    return path.read_text(encoding="utf-8-sig").splitlines()


def is_shown(browser, image):
    return browser.execute_script("return arguments[0].complete && arguments[0].naturalWidth > 0", image)


def test_the_page_opens_without_a_complaint(browser, page):
    opened(browser, page)
    assert "outcome" in find(browser, "h1").text
    assert complaints(browser) == []
    picture(browser, "light")


def test_the_map_answers_a_pointer_and_a_click(browser, page):
    opened(browser, page)
    points = data(browser)["points"]
    far_out = min(range(len(points["row"])), key=lambda i: points["aleatoric"][i])  # few others are near
    tip = click_point(browser, far_out)
    assert "label " in tip
    shown = find(browser, "#panel h3").text
    assert shown.startswith("Row ")
    assert shown.split()[1] in tip.split()[1]
    assert find(browser, "#panel svg polyline").get_attribute("points").count(",") == points["n_curve"]
    assert "this row" in find(browser, "#panel table").text


def test_the_map_can_be_walked_by_keyboard(browser, page):
    opened(browser, page)
    canvas, seen = find(browser, "#canvas"), set()
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP):
        canvas.send_keys(key)
        seen.add(find(browser, "#panel h3").text)
    assert len(seen) >= 3


def test_the_table_sorts_both_ways(browser, page):
    opened(browser, page)
    button = next(
        b for b in browser.find_elements("css selector", "#table th button") if b.text.startswith("confidence")
    )
    column = [b.text.split(" ")[0] for b in browser.find_elements("css selector", "#table th button")].index(
        "confidence"
    )
    for expected in (sorted, lambda v: sorted(v, reverse=True)):
        button.click()
        values = [float(t) for t in texts(browser, f"#table tbody tr td:nth-child({column + 1})")]
        assert values == expected(values)
    assert "descending" in [t.get_attribute("aria-sort") for t in browser.find_elements("css selector", "#table th")]


def test_the_table_can_be_searched_filtered_and_opened(browser, page):
    opened(browser, page)
    first = texts(browser, "#table tbody tr:first-child td")
    find(browser, "#search").send_keys(first[2])  # the id
    assert len(browser.find_elements("css selector", "#table tbody tr")) == 1
    find(browser, "#table tbody tr").send_keys(Keys.ENTER)
    assert first[2] in find(browser, "#table .opened h3").text
    find(browser, "#table tbody tr").send_keys(Keys.ENTER)
    assert browser.find_elements("css selector", "#table .opened") == []
    find(browser, "#search").clear()
    find(browser, "#search").send_keys("no such row")
    assert find(browser, "#table tbody").text == "No suspect label matches."


def test_the_list_is_saved_as_csv(browser, page):
    opened(browser, page)
    lines = saved(browser)
    assert lines[0].startswith("#,row,patient,given,suggested")
    assert len(lines) == 1 + len([r for r in data(browser)["points"]["rank"] if r])


def test_what_follows_the_list_is_folded_and_opens_from_the_top(browser, page):
    opened(browser, page)
    folds = browser.find_elements("css selector", "details.fold")
    assert len(folds) >= 5
    assert not any(fold.get_attribute("open") for fold in folds)
    assert browser.execute_script("return document.documentElement.scrollHeight") < 5_000
    next(a for a in browser.find_elements("css selector", "nav a") if a.text == "Models").click()
    assert find(browser, "#models details").get_attribute("open")


def test_the_line_follows_the_costs(browser, page):
    opened(browser, page)
    browser.execute_script("document.querySelector('#models details').open = true")
    words, cost = find(browser, ".in-words").text, find(browser, ".cost-missed")
    assert "No other threshold is cheaper" in words
    cost.clear()
    cost.send_keys("50")
    assert "misses 0," in find(browser, ".in-words").text  # a miss has become dear
    find(browser, ".threshold").send_keys(Keys.END)
    assert "The cheapest is" in find(browser, ".in-words").text


def test_curves_and_thresholds_are_those_of_the_class_that_is_picked(browser, tmp_path):
    opened(browser, many_classes(tmp_path).report)
    browser.execute_script("document.querySelector('#models details').open = true")
    option = find(browser, "#which option:last-child")
    name, code = option.text, option.get_attribute("value")
    option.click()
    shown = browser.find_elements("css selector", ".of-class:not([hidden])")
    assert {part.get_attribute("data-class") for part in shown} == {code}
    assert f"rows labeled {name}" in find(browser, ".of-class:not([hidden]) .in-words").text


def test_dark_mode_follows_the_system_and_the_button(browser, page):
    background = "return getComputedStyle(document.body).backgroundColor"
    dark = opened(browser, page, scheme="dark").execute_script(background)
    picture(browser, "dark")
    light = opened(browser, page).execute_script(background)
    assert dark != light
    find(browser, "#theme").click()
    assert browser.execute_script(background) == dark


def test_a_narrow_window_does_not_scroll_sideways(browser, page):
    opened(browser, page, width=390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    picture(browser, "phone")


def test_many_classes_do_not_scroll_the_page_sideways_either(browser, tmp_path):
    opened(browser, many_classes(tmp_path).report, width=390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    assert len(browser.find_elements("css selector", ".confusion tbody tr")) == 7


def test_long_names_stay_in_their_places(browser, tmp_path):
    opened(browser, long_names(tmp_path).report, width=390)
    browser.execute_script("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    opened(browser, tmp_path / "run" / "report.html")
    inside = "const [a, b] = [...arguments].map((e) => e.getBoundingClientRect()); return a.right <= b.right + 1"
    select = find(browser, "#table tbody select")
    assert browser.execute_script(inside, select, select.find_element("xpath", ".."))
    for cell in browser.find_elements("css selector", "#panel td"):
        assert browser.execute_script(inside, cell, find(browser, "#panel"))
    picture(browser, "long_names")


def test_without_a_suspect_there_is_nothing_to_search_or_to_save(browser, tmp_path):
    opened(browser, faultless(tmp_path).report)
    assert data(browser)["points"]["n_suspects_all"] == 0
    assert find(browser, "#table").text == "No label is suspect."
    assert not any(find(browser, f"#{part}").is_displayed() for part in ("search", "export", "next", "meanings"))


def test_numbers_of_the_table_are_explained_below_it(browser, page):
    opened(browser, page)
    titles = [t.strip(" ▲▼") for t in texts(browser, "#table th button")]
    explained = [t for t in titles if t.endswith(" %")]
    assert explained
    assert all(f"{t}: the probability" in find(browser, "#meanings").text for t in explained)


def test_the_row_beside_the_map_is_marked_on_it(browser, page):
    pixels = "const c = document.getElementById('canvas'); return c.toDataURL()"
    opened(browser, page)
    before = browser.execute_script(pixels)
    find(browser, "#canvas").send_keys(Keys.ARROW_UP)
    first = next(i for i, rank in enumerate(data(browser)["points"]["rank"]) if rank == 1)
    find(browser, f"#table tr[data-point='{first}']").click()
    assert browser.execute_script(pixels) == before


def test_it_prints(browser, page):
    opened(browser, page)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert find(browser, "#page").is_displayed()  # how many of the suspects are on paper
    assert not find(browser, "#next").is_displayed()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf.startswith(b"%PDF")
    if PICTURES:
        Path(PICTURES, "print.pdf").write_bytes(pdf)


def test_nothing_in_the_data_runs(browser, tmp_path):
    opened(browser, hostile(tmp_path).report)
    for row in browser.find_elements("css selector", "#table tbody tr")[:3]:
        row.click()
    find(browser, "#canvas").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    find(browser, "#search").send_keys("<script>")
    assert browser.execute_script("return window.attacked") is None
    assert browser.find_elements("css selector", "main img, main iframe, main script") == []
    assert complaints(browser) == []
    picture(browser, "hostile")


def test_a_large_table_is_drawn_at_once_and_said_to_be_a_sample(browser, tmp_path):
    opened(browser, large(tmp_path))
    assert "of 30,000 judged rows are drawn" in find(browser, "#mapnote").text
    redraw = "const b = performance.now(); document.getElementById('theme').click(); return performance.now() - b"
    assert browser.execute_script(redraw) < 250  # ms; a hover redraws as much
    picture(browser, "large")


def test_images_are_shown_in_the_list_on_the_map_and_large(browser, album):
    opened(browser, album)
    points = data(browser)["points"]
    listed = browser.find_elements("css selector", "#table tbody tr img")
    assert len(listed) == min(25, sum(rank > 0 for rank in points["rank"]))
    first = points["rank"].index(1)
    words = f"image {points['row'][first]} · {points['id'][first]}: label "
    assert listed[0].get_attribute("alt").startswith(words)
    assert "suggested" in listed[0].get_attribute("alt")
    far_out = min(range(len(points["row"])), key=lambda i: points["aleatoric"][i])
    assert "label " in click_point(browser, far_out)
    shown = [listed[0], *browser.find_elements("css selector", "#tip img, #panel img")]
    assert len(shown) > 2
    assert all(is_shown(browser, image) for image in shown)
    large = find(browser, "#panel img.large")
    assert large.size["width"] > 2 * listed[0].size["width"]
    assert browser.execute_script("return getComputedStyle(arguments[0]).imageRendering", large) == "pixelated"
    assert len(browser.find_elements("css selector", "#panel svg polyline")) == 2  # warm-up, and the rounds
    assert complaints(browser) == []
    picture(browser, "images_light")


def test_a_person_relabels_from_the_page(browser, album):
    opened(browser, album)
    select = find(browser, "#table tbody tr select")
    assert "corrected label of image" in select.get_attribute("aria-label")
    select.send_keys("red")
    assert browser.find_elements("css selector", "#table .opened") == []  # the row was not opened by it
    find(browser, "#given").send_keys("given red")
    find(browser, "#search").send_keys("no such image")
    lines = saved(browser)
    assert lines[0] == "#,image,name,given,suggested,corrected,confidence %,why"
    assert [line.split(",")[5] for line in lines[1:]] == ["red"]  # although the filter hides it
    find(browser, "#search").clear()
    find(browser, "#search").send_keys(Keys.SPACE, Keys.BACKSPACE)
    find(browser, "#given").send_keys("any given")
    assert find(browser, "#table tbody tr select").get_attribute("value") == "2"


def test_corrections_of_a_table_are_saved_and_read_back(browser, page):
    opened(browser, page)
    assert not find(browser, "#corrections").is_enabled()
    find(browser, "#table tbody tr select").send_keys("keep")
    lines = saved(browser, "corrections", "corrections.csv")
    assert lines[0].startswith("row,")
    assert lines[1].endswith(",keep")
    corrections = read_corrections(browser.downloads / "corrections.csv")
    assert corrections.labels == ["keep"]
    assert corrections.columns["row"] == [lines[1].split(",")[0]]


def test_nothing_in_names_of_images_runs(browser, tmp_path):
    pytest.importorskip("torch")
    opened(browser, hostile_images(tmp_path))
    for row in browser.find_elements("css selector", "#table tbody tr")[:3]:
        row.click()
    find(browser, "#canvas").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert browser.execute_script("return window.attacked") is None
    sources = browser.execute_script("return [...document.images].map((image) => image.src.slice(0, 22))")
    assert set(sources) == {"data:image/png;base64,"}
    assert complaints(browser) == []


def test_images_fit_a_phone_dark_and_paper(browser, album):
    opened(browser, album, width=390, scheme="dark")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    picture(browser, "images_phone")
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert pdf.startswith(b"%PDF")
    if PICTURES:
        Path(PICTURES, "images_print.pdf").write_bytes(pdf)

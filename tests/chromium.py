"""Chromium without a window, for tests of pages; skipped where there is none."""

import base64
import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PICTURES = os.environ.get("DIPS_PICTURES")
_ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


def new_browser(downloads):
    """A browser that saves files to a folder."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed; see make browser-test")
    if not (CHROMIUM and DRIVER):
        pytest.skip("no Chromium with its driver; see make browser-test")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.downloads = downloads
    return driver


def set_screen(browser, width=1280, height=860, scheme="light"):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def complaints(browser):
    """What the browser noted: errors, and breaches of a page's policy."""
    return [e["message"] for e in browser.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]


def picture(browser, name):
    """Keep what is on the screen, where pictures are wanted."""
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {})
        Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

"""Chromium without a window, for pictures and for waits; needs selenium, chromium and chromedriver."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

from selenium import webdriver


def browser() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def set_screen(driver: Any, width: int, height: int, dark: bool) -> None:
    """Set the size in pixels and the scheme of colors; nothing moves on the page."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
    media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def picture(driver: Any, path: Path) -> None:
    """Write what is on the screen as PNG."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {})
    path.write_bytes(base64.b64decode(shot["data"]))

"""A real browser for tests of pages: Chromium, without a window, driven by Selenium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver
from selenium.webdriver.chrome.webdriver import WebDriver

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SWITCHES = (
    "--headless=new",
    "--no-sandbox",  # Chromium's does not work for root, as in containers
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

BROWSER = next(filter(None, map(shutil.which, _NAMES)), None)
DRIVER = shutil.which("chromedriver")
MISSING = BROWSER is None or DRIVER is None
WHY = "no Chromium with its driver is installed (apt-get install chromium chromium-driver)"


@contextmanager
def started() -> Iterator[WebDriver]:
    """Start a browser with an empty profile, and end it."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for switch in _SWITCHES:
        options.add_argument(switch)
    with TemporaryDirectory() as profile:
        options.add_argument(f"--user-data-dir={profile}")
        driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
        try:
            yield driver
        finally:
            driver.quit()


def opened(driver: WebDriver, page: Path, width: int = 1600, scheme: str = "light") -> WebDriver:
    """Open a page in a window of some width, on a system whose colours are light or dark."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get_log("browser")  # what earlier pages said
    driver.get(page.as_uri())
    return driver

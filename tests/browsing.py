"""A real browser that opens pages from files, and notes all that they do wrong."""

import os
import shutil
from contextlib import contextmanager

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def launched():
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


class Visit:
    """A page that is open, and all that it did wrong: console messages, errors, and addresses that are no files."""

    def __init__(self, browser, address, width=1200, **options):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.faults, self.requests = [], []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.route("**/*", self._route)
        self.page.goto(address)

    def _hear(self, message):
        self.faults.append(message.text)

    def _route(self, route):
        address = route.request.url
        if address.startswith(("http:", "https:", "ws:", "wss:")):
            self.requests.append(address)
            route.abort()
        else:
            route.continue_()

    def close(self):
        self.context.close()
        assert self.faults == [], self.faults
        assert self.requests == [], self.requests

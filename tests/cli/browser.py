#!/usr/bin/env python3
"""browser.py PAGE.html [FOLDER]: opens the page in a headless Chromium, narrow and wide, light and dark, and on paper, and
says what a reader would notice: something wider than the window or cut off in a picture, text too small to read, errors, requests to anywhere.
With FOLDER, screenshots and a PDF are left there. Exit code 77: there is no Chromium.

Chromium is spoken to in its DevTools protocol over a pipe: messages in JSON, each ended by a zero byte."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = {390: True, 1280: False}  # a phone, a desk
SMALLEST = 9  # pixels, of any text

# What is wider than the window, and the smallest text as it is drawn: an SVG may be scaled.
LOOK = """(width => {
  const shown = e => e.getClientRects().length > 0;
  const wide = [...document.querySelectorAll('main *')].filter(e => shown(e) &&
    e.getBoundingClientRect().right > width + 0.5);
  const sizes = [...document.querySelectorAll('main *')].filter(e => shown(e) && e.childElementCount === 0 &&
    e.textContent.trim()).map(e => {
      const svg = e.closest('svg');
      const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
      return parseFloat(getComputedStyle(e).fontSize) * scale;
    });
  const outside = [...document.querySelectorAll('svg')].filter(shown).flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text, circle')].map(e => [e, e.getBoundingClientRect()]).filter(([e, r]) =>
      r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
      .map(([e]) => e.textContent.slice(0, 40));
  });
  return {outside, overflow: document.documentElement.scrollWidth - width, wide: wide.map(e => e.tagName + '.' + e.className),
          smallest: Math.min(...sizes), charts: [...document.querySelectorAll('svg')].filter(shown).length,
          headings: [...document.querySelectorAll('h2')].map(e => e.textContent)};
})"""


class Browser:
    def __init__(self, program, profile):
        to_read, to_write = os.pipe()
        answers_read, answers_write = os.pipe()
        # Chromium reads file descriptor 3 and writes 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{answers_write}', "sh", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={profile}"],
            pass_fds=(to_read, answers_write), stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(answers_write)
        self.commands = os.fdopen(to_write, "wb", buffering=0)
        self.answers = os.fdopen(answers_read, "rb", buffering=0)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None

    def receive(self):
        while b"\0" not in self.buffer:
            part = self.answers.read(65536)
            if not part:
                raise SystemExit("the browser ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def open_tab(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def show(self, url, width, mobile, colours):
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")
        return self.call("Runtime.evaluate", expression=f"{LOOK}({width})", returnByValue=True)["result"]["value"]

    def complaints(self, url):
        """What was logged, and what was asked for beside the page itself."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        logged = [json.dumps(e["params"]) for e in self.events if e.get("method") in kinds]
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return logged + ["request: " + other for other in asked if other != url and not other.startswith("data:")]

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (SystemExit, BrokenPipeError):
            pass
        self.process.wait(timeout=200)


def look(browser, url, folder):
    headings, wrong = [], 0
    for width, mobile in WIDTHS.items():
        for colours in ("light", "dark"):
            seen = browser.show(url, width, mobile, colours)
            complaints = browser.complaints(url)
            if seen["overflow"] > 0 or seen["wide"]:
                complaints.append(f"{seen['overflow']} pixels too wide: {seen['wide'][:5]}")
            if seen["outside"]:
                complaints.append(f"cut off in a picture: {seen['outside'][:5]}")
            if seen["smallest"] < SMALLEST:
                complaints.append(f"text of {seen['smallest']:.1f} pixels")
            print(f"{width} {colours}: {'; '.join(complaints) or 'good'}, {seen['charts']} chart")
            wrong += len(complaints)
            headings = seen["headings"]
            if folder:
                picture = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                (folder / f"{width}-{colours}.png").write_bytes(base64.b64decode(picture))
    paper = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    print("paper:", "good" if paper.startswith(b"%PDF") else "not printed")
    if folder:
        (folder / "paper.pdf").write_bytes(paper)
    print("sections:", ", ".join(headings))
    return wrong


def find_browser():
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


def main():
    program = find_browser()
    if not program:
        print("there is no Chromium to show pages with")
        return 77
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        browser.open_tab()
        wrong = look(browser, pathlib.Path(sys.argv[1]).resolve().as_uri(), folder)
        browser.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

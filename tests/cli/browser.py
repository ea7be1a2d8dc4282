#!/usr/bin/env python3
"""browser.py PAGE.html... [FOLDER]: opens the pages, one after the other, in a headless Chromium, narrow and wide, light and dark, and on paper, and
says what a reader would notice: something wider than the window or cut off in a picture, text on a large dot or on other text,
a mark of two implementations, a word that is broken though the window has room for it, text or dots too small or too faint to
see, a record without a dot, a page that is not dark where it should be, errors, requests to anywhere. What is wider than the window may stand in a box that scrolls.
With FOLDER, screenshots and PDFs are left there, those of PAGE in FOLDER/PAGE. Exit code 77: there is no Chromium.

Chromium is spoken to in its DevTools protocol over a pipe: messages in JSON, each ended by a zero byte."""
import base64
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = {400: True, 1100: False}  # a phone, a laptop
SMALLEST = 9  # pixels, of any text

# What is wider than the window, and the smallest text as it is drawn: an SVG may be scaled.
LOOK = r"""(width => {
  const shown = e => e.getClientRects().length > 0;
  const wide = [...document.querySelectorAll('main *')].filter(e => shown(e) && !e.parentElement.closest('.scroll') &&
    e.getBoundingClientRect().right > width + 0.5);
  const sizes = [...document.querySelectorAll('main *')].filter(e => shown(e) && e.childElementCount === 0 &&
    e.textContent.trim()).map(e => {
      const svg = e.closest('svg');
      const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
      return parseFloat(getComputedStyle(e).fontSize) * scale;
    });
  const value = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const parts = hex => [1, 3, 5].map(i => parseInt((hex.length == 4 ? hex.replace(/[^#]/g, '$&$&') : hex).slice(i, i + 2), 16) / 255);
  const light = rgb => rgb.map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const over = (top, under, part) => top.map((v, i) => v * part + under[i] * (1 - part));
  const paper = parts(value('--paper')), band = parts(value('--band'));
  const faint = ['--ink', '--soft'].flatMap(name => [paper, band].filter(on => ratio(parts(value(name)), on) < 4.5).map(() => name));
  const dots = [...document.querySelectorAll('path.dots')].filter(shown);
  const part = dots.length ? parseFloat(getComputedStyle(dots[0]).strokeOpacity) : 1;
  for (let i = 0; i < 10; i++) if (ratio(over(parts(value('--c' + i)), paper, part), paper) < 3) faint.push('--c' + i);
  if (ratio(parts(value('--bad')), paper) < 3) faint.push('--bad');
  const small = dots.filter(e => parseFloat(getComputedStyle(e).strokeWidth) * e.getCTM().a < 5).length;
  const drawn = svg => [...svg.querySelectorAll('path.dots')].reduce((sum, e) => sum + e.getAttribute('d').split('h0').length - 1, 0)
    + svg.querySelectorAll('.best').length;
  const failed = svg => [...svg.querySelectorAll('path.failed')].reduce((sum, e) => sum + e.getAttribute('d').split('v').length - 1, 0);
  const number = text => parseInt(text.replace(/[^0-9]/g, ''));
  const right = [...document.querySelectorAll('ol.implementations .note')].filter(e => e.textContent.startsWith('best of'))
    .reduce((sum, e) => sum + number(e.textContent), 0);
  const tried = number([...document.querySelectorAll('dl.figures > div')].find(e => e.textContent.startsWith('Variants')).querySelector('dd').firstChild.textContent);
  const [rates, course] = [...document.querySelectorAll('svg')].filter(shown);
  const missing = [];
  if (rates && drawn(rates) != right) missing.push(`${drawn(rates)} dots for ${right} variants`);
  if (course && drawn(course) + failed(course) < tried) missing.push(`${drawn(course) + failed(course)} points for ${tried} variants`);
  if ([...document.querySelectorAll('.array')].some(e => !e.querySelector('.bank'))) missing.push('an array without a picture');
  const outside = [...document.querySelectorAll('svg')].filter(shown).flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text, circle, rect')].map(e => [e, e.getBoundingClientRect()]).filter(([e, r]) =>
      r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
      .map(([e]) => e.textContent.slice(0, 40));
  });
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  const covered = [...document.querySelectorAll('svg')].filter(shown).flatMap(svg => {
    const box = e => e.getBoundingClientRect(), straight = [...svg.querySelectorAll('text')].filter(e => !e.getAttribute('transform'));
    const others = [...svg.querySelectorAll('.best'), ...svg.querySelectorAll('text')];
    return straight.flatMap(text => others.filter(e => e !== text && !e.getAttribute('transform') && meets(box(text), box(e)))
      .map(() => text.textContent.slice(0, 40)));
  });
  const keys = course ? [...course.querySelectorAll('.key')].map(e => e.tagName + e.getAttribute('class')) : [];
  if (new Set(keys).size < keys.length) missing.push('two implementations have one mark');
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), broken = new Set();
  for (let node; (node = texts.nextNode());) {
    if (!shown(node.parentElement) || node.parentElement.closest('svg, pre')) continue;
    for (const word of node.data.matchAll(/[^\s\/\u2013-]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = [...range.getClientRects()];
      if (new Set(lines.map(r => Math.round(r.top))).size > 1 && lines.reduce((sum, r) => sum + r.width, 0) < width - 40) broken.add(word[0]);
    }
  }
  return {outside, covered, faint, broken: [...broken], small, missing, overflow: document.documentElement.scrollWidth - width, wide: wide.map(e => e.tagName + '.' + e.className),
          smallest: Math.min(...sizes), charts: [...document.querySelectorAll('figure:not(.array) svg')].filter(shown).length,
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

    def picture(self, **more):
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, **more)["data"])

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


def is_dark(png):
    """Of the first pixel of an 8-bit PNG, which no filter changes."""
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        data += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return sum(zlib.decompress(data)[1:4]) < 3 * 64


def look(browser, url, folder, few):
    headings, wrong = [], 0
    for width, mobile in WIDTHS.items():
        for colours in (("light",) if width == 400 else ("dark",)) if few else ("light", "dark"):
            seen = browser.show(url, width, mobile, colours)
            complaints = browser.complaints(url)
            if seen["overflow"] > 0 or seen["wide"]:
                complaints.append(f"{seen['overflow']} pixels too wide: {seen['wide'][:5]}")
            if seen["outside"]:
                complaints.append(f"cut off in a picture: {seen['outside'][:5]}")
            if seen["covered"]:
                complaints.append(f"text on dots or text: {seen['covered'][:5]}")
            if seen["faint"]:
                complaints.append(f"too little contrast: {', '.join(seen['faint'])}")
            if seen["broken"]:
                complaints.append(f"broken inside words: {' '.join(seen['broken'][:8])}")
            if seen["small"]:
                complaints.append(f"{seen['small']} groups of dots are too small")
            complaints += seen["missing"]
            if is_dark(browser.picture(clip={"x": 0, "y": 0, "width": 8, "height": 8, "scale": 1})) != (colours == "dark"):
                complaints.append("the paper has the wrong colour")
            if seen["smallest"] < SMALLEST:
                complaints.append(f"text of {seen['smallest']:.1f} pixels")
            print(f"{width} {colours}: {'; '.join(complaints) or 'good'}, {seen['charts']} chart")
            wrong += len(complaints)
            headings = seen["headings"]
            if folder:
                (folder / f"{width}-{colours}.png").write_bytes(browser.picture())
    print("sections:", ", ".join(headings))
    if few:
        return wrong
    paper = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    print("paper:", "good" if paper.startswith(b"%PDF") else "not printed")
    if folder:
        (folder / "paper.pdf").write_bytes(paper)
    return wrong


def find_browser():
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


def main():
    program = find_browser()
    if not program:
        print("there is no Chromium to show pages with")
        return 77
    pages = [pathlib.Path(name) for name in sys.argv[1:] if name.endswith(".html")]
    folder = next((pathlib.Path(name) for name in sys.argv[1:] if not name.endswith(".html")), None)
    wrong = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile) # beginning takes as long as several pages
        browser.open_tab()
        for number, page in enumerate(pages):
            pictures = folder and folder / page.stem
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
            print(f"{page.name}:")
            wrong += look(browser, page.resolve().as_uri(), pictures, number > 1) # one style is that of all pages
        browser.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""site.py PACKAGES: the documents build as a site without a warning (tools/site), and the site is whole.

- Every link and picture leads to a file of the site, and its #address to an element there. Nothing is loaded from elsewhere.
- Every page of docs/ has a page. The navigation has those that docs/index.md leads to, in its groups.
- In a browser of 360 and of 1200 pixels no page scrolls sideways; tables and code do so in a box of their own. Nothing is logged.
- The search finds a word where it stands.

PACKAGES is where mkdocs is, if it is not installed otherwise. Exit code 77: there is none, or no browser."""
import functools
import html.parser
import http.server
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = pathlib.Path(sys.argv[1])
WIDTHS = (360, 1200)
LOOK = """(() => { const page = document.scrollingElement;
  const wide = [...document.querySelectorAll('body *')].filter(e => e.getClientRects().length > 0 && !e.closest('.wide, pre') &&
    e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + '.' + e.className);
  return {width: innerWidth, over: page.scrollWidth - innerWidth, wide: wide.slice(0, 5), text: page.textContent.length}; })()"""


class Page(html.parser.HTMLParser):
    """The addresses in a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        for name in ("src", "srcset") if tag != "link" else ("href",):
            if attrs.get(name) and attrs.get("rel") != "canonical":
                self.loads.append(attrs[name])


def build(folder):
    apart = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", ROOT / "tools/site/mkdocs.yml",
                            "--site-dir", folder], env=apart, capture_output=True, text=True, check=False)
    return [f"mkdocs: {line}" for line in (built.stdout + built.stderr).splitlines() or ["it failed"] * (built.returncode != 0)]


def check_link(folder, pages, path, target, loaded):
    scheme, host, file, _, address = urllib.parse.urlsplit(target)
    if scheme in ("http", "https", "mailto") or host:
        return "is loaded from elsewhere" if loaded else None
    found = (path.parent / urllib.parse.unquote(file)).resolve() if file else path
    if found.is_dir() or not found.exists() or folder not in found.parents:
        return "leads nowhere"
    if address and found in pages and urllib.parse.unquote(address) not in pages[found].ids:
        return "leads to no heading"
    return None


def check_links(folder, pages):
    count, wrong = 0, []
    for path, page in pages.items():
        if path.name == "404.html": # its links begin at the server's root
            continue
        for loaded, targets in ((False, page.links), (True, page.loads)):
            for target in targets:
                count += 1
                what = check_link(folder, pages, path, target, loaded)
                wrong += [f"{path.relative_to(folder)}: {target} {what}"] if what else []
    print(f"{len(pages)} pages, {count} links")
    return wrong


def check_pages(folder, pages):
    wrong = [f"docs/{page.name} has no page" for page in ROOT.glob("docs/*.md")
             if not (folder / page.name).with_suffix(".html").exists()]
    home = pages[folder / "index.html"].links
    index = (ROOT / "docs" / "index.md").read_text()
    wrong += [f"the navigation does not have {name}" for name in ("first-kernel.html", "config.html", "performance.html")
              if home.count(name) < 2] # there, and in the page's own table
    return wrong + [f"docs/index.md has no group {name}" for name in ("Use", "Reference", "Learn", "Results and design") if f"\n## {name}" not in index]


def check_search(folder):
    entries = json.loads((folder / "search" / "search_index.json").read_text())["docs"]
    return [] if any("wisdom" in entry["text"] and entry["location"].startswith("cache.html") for entry in entries) else \
        ["the search index does not have 'wisdom' of cache.html"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def value(browser, expression):
    return browser.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")


def is_error(event):
    logged = event.get("params", {}).get("entry", {}).get("level") == "error"
    return event.get("method") == "Runtime.exceptionThrown" or event.get("method") == "Log.entryAdded" and logged


def look(browser, base, name):
    wrong = []
    browser.events.clear()
    browser.call("Page.navigate", url=base + name)
    browser.wait_for("Page.loadEventFired")
    for width in WIDTHS:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        seen = value(browser, LOOK)
        if seen["width"] != width or seen["over"] > 0 or seen["wide"]:
            wrong.append(f"{name} at {width} pixels: {seen}")
    return wrong + [f"{name}: {json.dumps(event['params'])[:400]}" for event in browser.events if is_error(event)]


def search(browser, base):
    """Types into the search of the home page, as a reader would; its index is made beside the page, in seconds where a machine is busy."""
    browser.events.clear()
    browser.call("Page.navigate", url=base + "index.html")
    browser.wait_for("Page.loadEventFired")
    found = value(browser, """(async () => {
      const box = document.getElementById('mkdocs-search-query'), results = document.getElementById('mkdocs-search-results');
      for (let tries = 0; tries < 240 && !results.querySelector('a'); tries++) {
        box.value = 'wisdom'; box.dispatchEvent(new KeyboardEvent('keyup')); await new Promise(done => setTimeout(done, 250));
      }
      return [...results.querySelectorAll('a')].map(a => a.getAttribute('href')); })()""")
    return [] if any("cache.html" in link for link in found or []) else [f"the search for 'wisdom' finds {found}"]


def check_browser(folder, pages):
    spec = importlib.util.spec_from_file_location("browser", ROOT / "tests" / "cli" / "browser.py")
    browsers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(browsers)
    program = browsers.find_browser()
    if not program:
        return None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = browsers.Browser(program, profile)
        browser.open_tab()
        wrong = [line for path in pages for line in look(browser, base, path.relative_to(folder).as_posix())] + search(browser, base)
        browser.close()
    server.shutdown()
    return wrong


def main():
    sys.path.insert(0, str(PACKAGES))
    if not importlib.util.find_spec("mkdocs"):
        print("skipped: mkdocs is not installed; tools/site/build does it")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        wrong = build(folder)
        pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
        if pages:
            wrong += check_links(folder, pages) + check_pages(folder, pages) + check_search(folder)
            seen = check_browser(folder, pages)
            if seen is None and not wrong:
                print("skipped: there is no Chromium to show pages with")
                return 77
            wrong += seen or []
    print("\n".join(wrong) or "all of it is whole")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

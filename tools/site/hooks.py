"""What mkdocs is told beside mkdocs.yml.

- The navigation is docs/index.md's: its groups, and in each the pages in the order of their links.
- A link to a file or folder outside of docs/, or to docs/examples, works on a code host as it stands. The site has a copy of
  such a file, as text; of a folder it has a page that lists the files.
- A link whose text is a page's file name shows the page's title instead.
- Headings have the addresses that code hosts give them; behind a word where they begin with a digit, which the theme's scripts
  cannot look for.
- Tables lie in a box of their own, which scrolls where the window is narrow.
- The search's index is a script, search-index.js, so that the site can be searched without a server (search.js)."""
import json
import pathlib
import re

from mkdocs.structure.files import File
from pygments.formatters import HtmlFormatter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.M | re.S)
OUTSIDE = re.compile(r"\]\((?:\.\./|(?=examples[/)]))([^)#\s]+)(#[^)\s]*)?\)")
FILE_NAME = re.compile(r"\[([\w.-]+\.md)\]\(\1\)")
NUMBERED = re.compile(r"\]\(([\w.-]*)#(\d)")
BINARY = (".xz",)


def address(heading, separator="-"):
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)
    return f"part{separator}{plain}" if plain[:1].isdigit() else plain


def groups(index):
    """(title, pages) of each heading of the index."""
    seen = {"index.md"}
    for part in re.split(r"^## ", index, flags=re.M)[1:]:
        pages = [page for page in re.findall(r"\]\(([\w.-]+\.md)", part) if not (page in seen or seen.add(page))]
        yield part.partition(":")[0].partition("\n")[0], pages


def on_config(config):
    index = (pathlib.Path(config.docs_dir) / "index.md").read_text()
    config.nav = [{"Home": "index.md"}, *({title: pages} for title, pages in groups(index) if pages)]
    config.mdx_configs.setdefault("toc", {})["slugify"] = address
    return config


def target(link):
    """The file or folder that a link of OUTSIDE leads to, from the repository's root."""
    path = link[1].rstrip("/")
    return f"docs/{path}" if path.startswith("examples") else path


def links_out(text):
    return {target(link) for link in OUTSIDE.finditer(CODE.sub("", text))}


def copy_name(target):
    """Where the site has it, from the site's root."""
    if (ROOT / target).is_dir():
        return f"files/{target}/index.md"
    return f"files/{target}" if target.endswith(BINARY) else f"files/{target}.txt"


def files_of(folder):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def listing(folder):
    lines = [f"- [{path.relative_to(ROOT / folder)}]({pathlib.Path(copy_name(str(path.relative_to(ROOT)))).relative_to(f'files/{folder}')})"
             for path in files_of(folder)]
    return f"# {folder}\n\n" + "\n".join(lines) + "\n"


def on_files(files, config):
    targets = set().union(*(links_out(page.content_string) for page in files.documentation_pages()))
    folders = {target for target in targets if (ROOT / target).is_dir()}
    copied = {target for target in targets - folders if (ROOT / target).is_file()}
    copied |= {str(path.relative_to(ROOT)) for folder in folders for path in files_of(folder)}
    for target in sorted(copied):
        files.append(File.generated(config, copy_name(target), abs_src_path=str(ROOT / target)))
    for folder in sorted(folders):
        files.append(File.generated(config, copy_name(folder), content=listing(folder)))
    files.append(File.generated(config, "site.css", abs_src_path=str(HERE / "style.css")))
    files.append(File.generated(config, "search.js", abs_src_path=str(HERE / "search.js")))
    for name, colours in (("code-light.css", "default"), ("code-dark.css", "github-dark")):
        files.append(File.generated(config, name, content=HtmlFormatter(style=colours).get_style_defs(".highlight")))
    return files


def in_prose(markdown, change):
    """The page with all that is no code changed."""
    parts, last = [], 0
    for code in CODE.finditer(markdown):
        parts += [change(markdown[last:code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, change(markdown[last:])])


def title(page, files):
    found = files.get_file_from_path(page)
    return re.search(r"^# (.*)$", found.content_string, re.M)[1] if found else page


def on_page_markdown(markdown, page, files, **_):
    def change(text):
        text = OUTSIDE.sub(lambda link: f"]({copy_name(target(link))}{link[2] or ''})", text)
        text = NUMBERED.sub(r"](\1#part-\2", text)
        return FILE_NAME.sub(lambda link: f"[{title(link[1], files)}]({link[1]})", text)
    return markdown if page.file.generated_by else in_prose(markdown, change)


def on_page_content(html, **_):
    return re.sub(r"<table>(.*?)</table>", r'<div class="wide"><table>\1</table></div>', html, flags=re.S)


def search_pages(entries):
    """The pages of docs/ with their sections, from mkdocs' index: its first entry of a page has the text of all the page's sections."""
    pages = {}
    for entry in entries:
        name = entry["location"].partition("#")[0]
        if not name.startswith("files/"):
            pages.setdefault(name, []).append({field: entry[field] for field in ("location", "title", "text")})
    parts = [sections[1:] or sections for sections in pages.values()]
    return [{"title": sections[0]["title"], "sections": sections} for sections in parts]


def on_post_build(config, **_):
    site = pathlib.Path(config.site_dir)
    entries = json.loads((site / "search/search_index.json").read_text())["docs"]
    (site / "search-index.js").write_text(f"window.searchIndex = {json.dumps(search_pages(entries))};\n")

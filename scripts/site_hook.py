"""A hook of MkDocs: the built site gets a Markdown twin of every page (`guides/django.md` beside
`guides/django.html`) and `llms.txt`, a list of all twins for agents that read documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NOT_PROSE = ("#", "|", "```", "- ", "!", "<", "Date: ")
LONGEST = 200


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Keep the navigation: `llms.txt` has its order and its headings."""
    config["extra"]["navigation"] = nav
    return nav


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add a link to its twin to the head of each page."""
    name = Path(page.file.src_uri).name
    twin = f'<link rel="alternate" type="text/markdown" href="{name}">'
    return output.replace("</head>", f"{twin}</head>", 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Write the twins and `llms.txt`."""
    site = Path(config.site_dir)
    nav: Navigation = config["extra"]["navigation"]
    for page in nav.pages:
        twin = site / page.file.src_uri
        twin.write_text(page.markdown or "", encoding="utf-8")
    (site / "llms.txt").write_text("\n".join(llms_lines(nav, config)) + "\n", encoding="utf-8")


def llms_lines(nav: Navigation, config: MkDocsConfig) -> Iterator[str]:
    """The format of https://llmstxt.org: a title, a summary, and lists of links under headings."""
    yield from (f"# {config.site_name}", "", f"> {config.site_description}")
    for section in nav.items:
        if isinstance(section, Section):
            yield from ("", f"## {section.title}", "")
            for page in pages_below(section):
                yield f"- [{page.title}]({page.file.src_uri}): {summary(page.markdown or '')}"


def pages_below(section: Section) -> Iterator[Page]:
    for item in section.children:
        if isinstance(item, Page):
            yield item
        elif isinstance(item, Section):
            yield from pages_below(item)


def summary(markdown: str) -> str:
    """The first sentence of the first paragraph of prose, as plain text."""
    blocks = COMMENT.sub("", markdown).split("\n\n")
    prose = (block.strip() for block in blocks)
    paragraph = next((text for text in prose if text and not text.startswith(NOT_PROSE)), "")
    text = LINK.sub(r"\1", " ".join(paragraph.split())).rstrip(":")
    sentence = re.split(r"(?<=[.!?]) (?=[A-Z`])", text)[0]
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1]}…"

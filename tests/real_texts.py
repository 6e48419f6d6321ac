"""Texts written by people, from the packages and the Python that are installed here, and possible
names of fields.
"""

import os
import re
import sysconfig
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

ROOTS = tuple(Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))
WHOLE = (".html", ".htm", ".xhtml", ".xml", ".xsl", ".md", ".rst", ".jsx", ".tsx", ".txt", ".js")
DRAWINGS = 2_000
"""SVG files, of which some packages have thousands."""
LONGEST = 60_000


def words(text: str) -> list[str]:
    return text.split()


FIELDS = ("content", "body", "title", "description", "summary")
"""Every text is sent in each of these."""

TAGS_AND_ATTRIBUTES = words("""
    a abbr address area article aside audio b base blockquote br button canvas caption cite code col
    data datalist dd del details dialog div dl dt em embed fieldset figcaption figure footer form h1
    h2 h3 head header hr html i iframe img input ins kbd label legend li link main map mark menu meta
    nav object ol option output p param parameter picture pre progress q s script search section
    select small source span strong style sub sup table tbody td template textarea tfoot th thead
    time tr u ul var video svg g path rect circle line image defs use item entry author id
    category channel guid name value version url key type string array dict Link Route Button
    class href src alt width height lang rel target role tabindex action method placeholder disabled
    checked colspan rowspan onclick className htmlFor viewBox fill stroke d x y r points xmlns
    content body title description summary
""")

ARGUMENT_NAMES = words("""
    user username user_name email password token query filter filters sort order limit offset page
    page_size cursor start end date due due_date created_at updated_at timestamp status state priority
    tags labels tag_list reason evidence metadata attributes properties options config settings
    parameters arguments params payload request response message messages text prompt note notes
    comment comments subject recipients recipient sender cc bcc attachments file files filename
    file_path directory repo repository branch commit owner org organization team project project_id
    task task_id issue_number assignee assignees milestone parent_id children customer customer_id
    order_id product_id sku quantity price amount currency country city street zip phone first_name
    last_name full_name birthday age gender language locale timezone format mode verbose dry_run force
    recursive include exclude max_results
""")

UNSENT = [*TAGS_AND_ATTRIBUTES[:-5], *ARGUMENT_NAMES]


def real_texts(count: int) -> list[str]:
    """Return texts: whole files, parts of files between blank lines, drawings, and parts of Python
    files. They are the same in every run, as long as the same packages are installed.
    """
    files = _files()
    sources = (
        _whole(files, WHOLE),
        _parts(files, WHOLE, "<"),
        islice(_whole(files, (".svg",)), DRAWINGS),
        _parts(files, (".py",), "</"),
        _parts(files, (".py",), "<"),
    )
    found: dict[str, None] = {}
    for text in chain(*sources):
        if len(found) == count:
            break
        found.setdefault(text)
    return list(found)


def _files() -> list[Path]:
    found: list[Path] = []
    for root in ROOTS:
        for folder, below, names in os.walk(root):
            below[:] = [each for each in below if each not in ("site-packages", "__pycache__")]
            found += [
                Path(folder, name) for name in names if name.endswith((*WHOLE, ".svg", ".py"))
            ]
    return sorted(found)


def _whole(files: list[Path], suffixes: tuple[str, ...]) -> Iterator[str]:
    for path in files:
        if path.suffix in suffixes:
            text = path.read_bytes().decode(errors="replace")
            if "<" in text and len(text) <= LONGEST:
                yield text


def _parts(files: list[Path], suffixes: tuple[str, ...], sign: str) -> Iterator[str]:
    for text in _whole(files, suffixes):
        parts = re.split(r"\n\s*\n", text)
        yield from (part for part in parts if sign in part)

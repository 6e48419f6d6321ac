"""The gateway finds the view of a path without trying every pattern: always the one that Django's
own `resolve()` finds.
"""

import re
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import (
    Resolver404,
    ResolverMatch,
    URLPattern,
    URLResolver,
    include,
    path,
    re_path,
    register_converter,
)
from django.urls.converters import IntConverter
from django.urls.resolvers import LocalePrefixPattern, RegexPattern, RoutePattern
from django.utils.functional import lazy
from django.utils.translation import get_language, override
from hypothesis import given
from hypothesis import strategies as st

from toolbooth.django.resolve import literal_start, resolve

FIELDS = (
    "func",
    "args",
    "kwargs",
    "url_name",
    "app_names",
    "app_name",
    "namespaces",
    "namespace",
    "view_name",
    "route",
    "tried",
    "captured_kwargs",
    "extra_kwargs",
)


class Even(IntConverter):
    """It refuses texts that its expression matches, and counts how often it is asked."""

    asked = 0

    def to_python(self, value: str) -> int:
        Even.asked += 1
        if int(value) % 2:
            raise ValueError
        return int(value)


register_converter(Even, "even")


class ShoutingRegex(RegexPattern):
    """A project's own pattern, which matches paths that its text does not."""

    def match(self, path: str) -> Any:
        return super().match(path.lower())


class LoudPattern(URLPattern):
    def resolve(self, path: str) -> Any:
        return super().resolve(path.lower())


class LoudResolver(URLResolver):
    def resolve(self, path: str) -> Any:
        return super().resolve(path.lower())


def view(request: Any) -> None: ...


def other(request: Any) -> None: ...


def by_language(german: str, others: str) -> Any:
    """Text as `gettext_lazy` makes it."""
    return lazy(lambda: german if get_language() == "de" else others, str)()


def resolver_of(patterns: Any) -> URLResolver:
    """As Django makes it of a URLconf."""
    return URLResolver(RegexPattern(r"^/"), SimpleNamespace(urlpatterns=patterns))


def outcome(found_by: Any, *words: Any) -> Any:
    """Every part of a match, or of the 404."""
    try:
        match = found_by(*words)
    except Resolver404 as error:
        return error.args
    assert isinstance(match, ResolverMatch)
    return {name: getattr(match, name) for name in FIELDS}


# --- generated URLconfs -------------------------------------------------------------------------

ROUTES = (
    "",
    "a",
    "a/",
    "ab/",
    "a-b/",
    "a.b/",
    "b/",
    "a/1/",
    "<x>",
    "<x>/",
    "a/<int:x>/",
    "a/<int:y>/",
    "a/<even:x>/",
    "a/<even:x>",
    "<path:rest>",
    "a/<slug:x>/b/",
    "b/<uuid:x>/",
)
EXPRESSIONS = (
    r"",
    r"^",
    r"^$",
    r"^a/$",
    r"^a/",
    r"a/",
    r"b/$",
    r".*",
    r"^a|b",
    r"^(a|b)/",
    r"^(?:a|b)/$",
    r"(?i)^A/",
    r"(?m)^b/",
    r"(?x)^ a /",
    r"^(?i:A)/",
    r"^a*b/",
    r"^a?b/",
    r"^a+/",
    r"^ab{0}/",
    r"^ab{2}/?$",
    r"^a\-b/$",
    r"^a\-?b/",
    r"^a\.b/",
    r"^a\b",
    r"^\Aa/",
    r"\Aa/",
    r"^a[^/]/",
    r"^a/(?P<x>[^/.]+)/$",
    r"^a/(?P<x>[^/.]+)\.(?P<format>[a-z0-9]+)/?$",
    r"^a/([0-9]+)/$",
    r"^a/([0-9]+)/(?P<x>b)?$",
    r"^(?P<x>a)?/",
    r"^a(?=/)/",
    r"^a(?!b)",
    r"^(a)\1/",
)
PIECES = ("a", "b", "A", "ab", "a-b", "a.b", "1", "2", "/", "a/", "b/", ".json", "\n", " ", "de/")

names = st.sampled_from([None, "first", "second"])
extra = st.sampled_from([None, {}, {"x": "default"}, {"deep": 1}])


def _endpoints() -> st.SearchStrategy[Any]:
    views = st.sampled_from([view, other])
    return st.one_of(
        st.builds(path, st.sampled_from(ROUTES), views, extra, names),
        st.builds(re_path, st.sampled_from(EXPRESSIONS), views, extra, names),
        st.builds(
            lambda text, found: URLPattern(ShoutingRegex(text, is_endpoint=True), found),
            st.sampled_from(EXPRESSIONS),
            views,
        ),
        st.builds(
            lambda text, found: LoudPattern(RegexPattern(text, is_endpoint=True), found),
            st.sampled_from(EXPRESSIONS),
            views,
        ),
        # Translated, so they depend on the language.
        st.builds(lambda found: path(by_language("a/", "b/"), found), views),
        st.builds(lambda found: re_path(by_language("^a/$", "^b/"), found), views),
    )


def _includes(patterns: Any) -> st.SearchStrategy[Any]:
    several = st.lists(patterns, max_size=6)
    spaces = st.sampled_from([(None, None), ("app", None), ("app", "space")])

    def make(kind: Any, start: str, found: list[Any], space: Any, more: Any) -> Any:
        app, namespace = space
        included = include((found, app) if app else found, namespace=namespace)
        return kind(start, included, more)

    return st.one_of(
        st.builds(make, st.just(path), st.sampled_from(ROUTES), several, spaces, extra),
        st.builds(make, st.just(re_path), st.sampled_from(EXPRESSIONS), several, spaces, extra),
        st.builds(
            lambda start, found: LoudResolver(RoutePattern(start), found),
            st.sampled_from(ROUTES),
            several,
        ),
    )


patterns = st.recursive(_endpoints(), _includes, max_leaves=25)
locales = st.builds(
    lambda found, is_default: URLResolver(LocalePrefixPattern(is_default), found),
    st.lists(patterns, max_size=6),
    st.booleans(),
)
urlconfs = st.lists(st.one_of(patterns, patterns, patterns, locales), max_size=12)
paths = st.lists(st.sampled_from(PIECES), max_size=7).map(lambda pieces: "/" + "".join(pieces))


@given(urlconf=urlconfs, asked=st.lists(paths, min_size=1, max_size=8), data=st.data())
def test_generated_urlconfs_give_the_match_that_django_gives(urlconf, asked, data):
    resolver = resolver_of(urlconf)
    for each in asked:
        with override(data.draw(st.sampled_from(["en-us", "de", None]))):
            assert outcome(resolve, resolver, each) == outcome(resolver.resolve, each)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_path_without_the_start_of_an_expression_never_matches(text):
    regex = re.compile(text)
    start = literal_start(regex)
    for pieces in product((*PIECES, ""), repeat=3):
        rest = "".join(pieces)
        assert rest.startswith(start) or regex.search(rest) is None


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (r"^contacts/$", "contacts/"),
        (r"^contacts/(?P<pk>[^/.]+)/$", "contacts/"),
        (r"^a\-b\.c/", "a-b.c/"),
        (r"^ab?/", "a"),
        (r"^a\.*", "a"),
        (r"^a\d/", "a"),
        (r"contacts/$", ""),
        (r"^a/|b/", ""),
        (r"(?i)^a/", ""),
        (r"^", ""),
    ],
)
def test_literal_start_of_an_expression(text, start):
    assert literal_start(re.compile(text)) == start


def test_an_expression_with_flags_has_no_start():
    assert literal_start(re.compile("^a/", re.IGNORECASE)) == ""


# --- single cases -------------------------------------------------------------------------------


def test_an_earlier_pattern_for_everything_is_found_before_a_later_exact_one():
    resolver = resolver_of([path("<path:rest>", other), path("a/", view)])
    assert resolve(resolver, "/a/").func is other


def test_patterns_that_differ_only_by_flags_or_language_are_not_left_out():
    resolver = resolver_of([re_path("(?i)^A/$", other), path("a/", view)])
    assert resolve(resolver, "/a/").func is other

    translated = resolver_of([path(by_language("a/", "b/"), view), path("<path:rest>", other)])
    assert resolve(translated, "/b/").func is view
    with override("de"):
        assert resolve(translated, "/a/").func is view

    localised = resolver_of([URLResolver(LocalePrefixPattern(), [path("a/", view)])])
    with override("de"):
        match = resolve(localised, "/de/a/")
    assert match.func is view
    with override("fr"):
        assert get_language() == "fr"
        # Django shows them on its page for a 404, where the language may be another one.
        assert match.tried == [[*localised.url_patterns, localised.url_patterns[0].url_patterns[0]]]


def test_a_pattern_that_is_added_later_is_found():
    urlpatterns = [path("a/", view)]
    resolver = resolver_of(urlpatterns)
    assert resolve(resolver, "/a/").func is view
    urlpatterns.insert(0, path("a/", other))
    assert resolve(resolver, "/a/").func is other
    urlpatterns[0] = path("b/", other)
    assert resolve(resolver, "/a/").func is view


def test_patterns_in_a_collection_of_the_project_are_left_to_django():
    class Reversed(list):
        def __iter__(self) -> Any:
            return reversed(list(super().__iter__()))

    resolver = resolver_of(Reversed([path("a/", view), path("a/", other)]))
    assert resolve(resolver, "/a/").func is resolver.resolve("/a/").func is other


def test_a_resolver_of_a_subclass_is_left_to_django():
    resolver = LoudResolver(RegexPattern(r"^/"), [path("a/", view)])
    assert resolve(resolver, "/A/").func is view


def test_converters_run_once_for_a_call():
    resolver = resolver_of([path("<even:x>/", include([path("a/", view)]))])
    Even.asked = 0
    assert resolve(resolver, "/2/a/").kwargs == {"x": 2}
    assert Even.asked == 1


def test_a_broken_expression_is_reported_only_by_paths_that_get_to_it():
    broken = [re_path("^(", other)]
    resolver = resolver_of([path("a/", view), URLResolver(RegexPattern("^b"), broken)])
    assert resolve(resolver, "/a/").func is view
    for find in (resolver.resolve, lambda each: resolve(resolver, each)):
        with pytest.raises(ImproperlyConfigured, match="not a valid regular expression"):
            find("/b/")

"""Models, unions and recursion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar

from constructs.construct import calls, construct
from pydantic import AliasChoices, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

# --- models -------------------------------------------------------------------------------------


class Address(BaseModel):
    street: str
    city: str = Field("Utrecht", description="Where")


class Contact(BaseModel):
    """A person to write to."""

    email: str
    address: Address
    phones: list[str] = []


class Line(BaseModel):
    sku: str
    quantity: int = Field(1, ge=1)


DAM = {"street": "Dam 1"}
ANN = {"email": "ann@example.org", "address": {**DAM, "city": "Amsterdam"}}


@construct(
    calls("p", DAM, {**DAM, "city": "Delft"}),
    calls("p", {}, {"street": 1}, {**DAM, "zip": "1012"}, {"address": DAM}),
)
def model(p: Address) -> None: ...


@construct(
    calls("p", ANN, {**ANN, "phones": ["1"]}),
    calls("p", {**ANN, "address": "Dam 1"}, {**ANN, "phones": [1]}),
)
def nested_model(p: Contact) -> None: ...


@construct([{}, {"p": DAM}], calls("p", {}, {"street": 1}))
def optional_model(p: Address | None = None) -> None: ...


@construct(
    calls("p", [{"sku": "A1"}], [{"sku": "A1", "quantity": 2}, {"sku": "B2"}]),
    calls("p", [{"sku": "A1", "quantity": 0}], [{}]),
)
def list_of_models(p: list[Line]) -> None: ...


@construct(calls("p", {"x": {"sku": "A1"}}, {}), calls("p", {"x": {}}, {"x": {"sku": 1}}))
def dict_of_models(p: dict[str, Line]) -> None: ...


@construct(
    [{"home": DAM, "work": DAM}, {"home": DAM, "work": {**DAM, "city": "Delft"}}], [{"home": DAM}]
)
def one_model_twice(home: Address, work: Address) -> None: ...


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    first_name: str
    last_name: str = ""


class Renamed(BaseModel):
    user: str = Field(validation_alias=AliasChoices("user", "userName"))
    from_: str = Field("", alias="from")


@construct(
    calls("p", {"firstName": "Ann"}, {"firstName": "Ann", "lastName": "Li"}),
    calls("p", {"first_name": "Ann"}, {"firstName": 1}),
)
def model_with_aliases(p: Camel) -> None: ...


@construct(
    calls("p", {"user": "ann"}, {"user": "ann", "from": "x"}),
    calls("p", {"from": "x"}, {"user": 1}),
)
def model_with_alias_choices(p: Renamed) -> None: ...


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str


class OpenIntegers(BaseModel):
    __pydantic_extra__: dict[str, int]
    model_config = ConfigDict(extra="allow")

    name: str


class Forbidding(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


@construct(calls("p", {"name": "a"}, {"name": "a", "colour": "red"}), calls("p", {}, {"name": 1}))
def open_model(p: Open) -> None: ...


@construct(
    calls("p", {"name": "a"}, {"name": "a", "size": 3}), calls("p", {"name": "a", "size": "x"})
)
def open_model_of_integers(p: OpenIntegers) -> None: ...


@construct(calls("p", {"name": "a"}, {"name": ""}), calls("p", {"name": "a", "colour": "red"}, {}))
def closed_model(p: Forbidding) -> None: ...


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


@dataclass
class Size:
    width: int
    height: int = 1


@construct(
    calls("p", {"title": "M"}, {"title": "M", "year": 1931}),
    calls("p", {"year": 1931}, {"title": 1}),
)
def typed_dict(p: Movie) -> None: ...


@construct(calls("p", {"width": 1}, {"width": 1, "height": 2}), calls("p", {}, {"width": "x"}))
def data_class(p: Size) -> None: ...


Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    total: int


@construct(
    calls("p", {"items": [{"sku": "A1"}], "total": 1}, {"items": [], "total": 0}),
    calls("p", {"items": [1], "total": 1}, {"items": []}),
)
def generic_model(p: Page[Line]) -> None: ...


class Span(BaseModel):
    first: date
    last: date

    @model_validator(mode="after")
    def in_order(self) -> Span:
        if self.last < self.first:
            raise ValueError("last is before first")
        return self


@construct(
    calls(
        "p",
        {"first": "2026-01-01", "last": "2026-01-02"},
        {"first": "2026-01-01", "last": "2026-01-01"},
    ),
    calls("p", {"first": "2026-01-02", "last": "2026-01-01"}, {"first": "2026-01-01"}),
)
def model_with_a_validator(p: Span) -> None: ...


class Settings(BaseModel):
    retries: int = 3
    address: Address = Address(street="Dam 1")
    tags: list[str] = Field(default_factory=lambda: ["new"])


@construct(
    [{}, {"p": {"retries": 1, "address": DAM, "tags": []}}, {"p": {}}],
    calls("p", {"retries": "x"}, [1]),
)
def model_of_defaults(p: Settings = Settings()) -> None: ...  # noqa: B008


class Level3(BaseModel):
    value: int


class Level2(BaseModel):
    three: list[Level3]


class Level1(BaseModel):
    two: dict[str, Level2]


@construct(
    calls("p", {"two": {"a": {"three": [{"value": 1}]}}}, {"two": {}}),
    calls("p", {"two": {"a": {"three": [{"value": "x"}]}}}, {"two": {"a": {}}}),
)
def four_levels(p: Level1) -> None: ...


# --- unions -------------------------------------------------------------------------------------


@construct(calls("p", 1, "a"), calls("p", 1.5, True, [1]))
def integer_or_string(p: int | str) -> None: ...


@construct(calls("p", "a", ["a", "b"]), calls("p", 1, [1]))
def string_or_list(p: str | list[str]) -> None: ...


@construct(calls("p", DAM, 7), calls("p", {}, "x"))
def model_or_integer(p: Address | int) -> None: ...


@construct(calls("p", DAM, {"sku": "A1"}), calls("p", {}, {"sku": 1}))
def one_model_or_another(p: Address | Line) -> None: ...


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
CAT = {"kind": "cat", "lives": 7}
DOG = {"kind": "dog", "good": True}


@construct(calls("p", CAT, DOG), calls("p", {"kind": "cow"}, {"lives": 7}, {"kind": "dog"}))
def discriminated_union(p: Pet) -> None: ...


@construct(calls("p", [CAT, DOG], []), calls("p", [{"kind": "cow"}], [DOG, {}]))
def list_of_discriminated_unions(p: list[Pet]) -> None: ...


def _kind(sent: Any) -> str:
    return "line" if "sku" in sent else "address"


@construct(calls("p", DAM, {"sku": "A1"}), calls("p", {"sku": 1}, {}))
def union_by_a_function(
    p: Annotated[
        Annotated[Address, Tag("address")] | Annotated[Line, Tag("line")], Discriminator(_kind)
    ],
) -> None: ...


@construct(calls("p", [1, "a"], {"k": 1}, True), calls("p", "x", {"k": "x"}))
def union_of_containers(p: list[int | str] | dict[str, int] | bool) -> None: ...


# --- recursion ----------------------------------------------------------------------------------


class Folder(BaseModel):
    name: str
    inside: list[Folder] = []


class Chain(BaseModel):
    value: int
    next: Chain | None = None


class Husband(BaseModel):
    name: str
    wife: Wife | None = None


class Wife(BaseModel):
    name: str
    husband: Husband | None = None


TREE = {"name": "a", "inside": [{"name": "b", "inside": [{"name": "c"}]}]}


@construct(calls("p", {"name": "a"}, TREE), calls("p", {"name": 1}, {"name": "a", "inside": [{}]}))
def recursive_model(p: Folder) -> None: ...


@construct(
    calls("p", {"value": 1}, {"value": 1, "next": {"value": 2}}),
    calls("p", {}, {"value": 1, "next": 2}),
)
def recursive_optional(p: Chain) -> None: ...


@construct(
    calls("p", {"name": "a"}, {"name": "a", "wife": {"name": "b", "husband": {"name": "c"}}}),
    calls("p", {"name": "a", "wife": {}}),
)
def mutual_recursion(p: Husband) -> None: ...

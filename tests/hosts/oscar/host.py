"""The contents of the shop, valid values for fields whose schemas do not show them, and a call of
each tool that writes.
"""

from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from oscar.core.loading import get_class, get_model
from oscar.test.factories import create_order, create_product

BASE = "http://testserver/api/"


def seed() -> None:
    """Two of everything, so that a wrong key is some other row; each user has an address, a basket
    and an order.
    """
    _catalogue()
    novels = [_product(at) for at in (1, 2)]
    for code, name in (("NL", "Netherlands"), ("GB", "United Kingdom")):
        get_model("address", "Country").objects.create(
            iso_3166_1_a2=code,
            iso_3166_1_a3=f"{code}X",
            name=name,
            printable_name=name,
            is_shipping_country=True,
        )
    for name in ("All", "Some"):
        get_model("offer", "Range").objects.create(
            name=name, slug=name.lower(), includes_all_products=name == "All"
        )
    for user in get_user_model().objects.order_by("pk"):
        _customer(user, *novels)


def _catalogue() -> None:
    category = get_model("catalogue", "Category")
    category.add_root(name="Fiction", slug="fiction").add_child(name="Crime", slug="crime")
    category.add_root(name="Art", slug="art")
    books = get_model("catalogue", "ProductClass").objects.create(name="Books", slug="books")
    get_model("catalogue", "ProductClass").objects.create(name="Games", slug="games")
    books.attributes.create(name="pages", code="pages", type="integer")
    for name in ("Cover", "Size"):
        group = get_model("catalogue", "AttributeOptionGroup").objects.create(name=name)
        for option in ("small", "large"):
            group.options.create(option=f"{name} {option}")
    books.attributes.create(name="Cover", code="cover", type="option", option_group_id=1)
    for name in ("gift", "engraving"):
        get_model("catalogue", "Option").objects.create(name=name, code=name, type="text")


def _product(at: int) -> Any:
    return create_product(
        upc=f"97800{at}",
        title=f"Novel {at}",
        product_class="Books",
        price=Decimal("9.99"),
        num_in_stock=20,
        partner_name=f"partner {at}",
        partner_sku=f"sku-{at}",
        attributes={"pages": 100 + at},
    )


def _customer(user: Any, one: Any, two: Any) -> None:
    get_model("address", "UserAddress").objects.create(
        user=user,
        first_name=user.username,
        line1="Road 1",
        line4="Town",
        postcode="1234AB",
        country_id="NL",
    )
    baskets = [get_model("basket", "Basket").objects.create(owner=user) for _ in range(2)]
    for basket in baskets:
        basket.strategy = get_class("partner.strategy", "Selector")().strategy()
    gift = get_model("catalogue", "Option").objects.get(code="gift")
    baskets[0].add_product(one, quantity=2, options=[{"option": gift, "value": "ribbon"}])
    baskets[1].add_product(two, quantity=1, options=[{"option": gift, "value": "paper"}])
    create_order(number=f"100{user.pk}", basket=baskets[1], user=user)


EXAMPLES = 5

PREVIEWED = 0
"""Tools whose writes can be previewed. It saves rows by code of its own, or sends signals."""
JOINED: set[str] = set()
PATHS = {("/api/countries/{pk}/", "pk"): "NL", "slug": "books", "breadcrumbs": "fiction"}


def _at(kind: str, *keys: Any) -> list[str]:
    """URLs of rows: these, and one that does not exist."""
    return [f"{BASE}{kind}/{key}/" for key in (*keys, 99)]


VALUES: dict[str, list[Any]] = {
    "basket": _at("baskets", 1, 3),
    "categories": ["Fiction", "Fiction > Crime", "New"],
    "children": _at("admin/products", 1),
    "country": _at("countries", "NL"),
    "option": _at("options", 1),
    "owner": _at("users", 1, 2),
    "parent": [1, 99],
    "partner": _at("admin/partners", 1, 2),
    "phone_number": ["+31 26 370 4887", "", "12"],
    "product": [1, 2, 99, *_at("products", 1, 2)],
    "product_class": ["books", "games", "none"],
    "recommended_products": _at("products", 1, 2),
    "stockrecord": _at("products/1/stockrecords", 1),
    "url": _at("products", 1),
    "users": _at("users", 1, 2),
}
UNSENT: set[str] = set()

UNLIKE: tuple[str, ...] = ()
HIDDEN: dict[str, str] = {}
LEFT_OUT: dict[str, str] = {}
UNKNOWN: set[str] = set()

ADDRESS = {
    "first_name": "Henk",
    "last_name": "Van den Heuvel",
    "line1": "Roemerlaan 44",
    "line4": "Kroekingen",
    "postcode": "7777KK",
    "country": f"{BASE}countries/NL/",
}
LINE = {
    "basket": f"{BASE}baskets/1/",
    "product": f"{BASE}products/2/",
    "stockrecord": f"{BASE}products/2/stockrecords/2/",
    "quantity": 3,
    "price_currency": "GBP",
}
PRODUCT = {
    "product_class": "books",
    "slug": "novel-1",
    "upc": "978001",
    "title": "Novel, first edition",
    "categories": ["Fiction > Crime"],
    "attributes": [{"code": "pages", "value": 320}, {"code": "cover", "value": "Cover small"}],
    "stockrecords": [
        {"partner": f"{BASE}admin/partners/1/", "partner_sku": "sku-1", "price": "10.99"}
    ],
    "options": [{"code": "gift", "name": "gift", "type": "text"}],
    "recommended_products": [f"{BASE}products/2/"],
}
GROUP = {"name": "Cover", "options": ["Cover small", "huge"]}
ATTRIBUTE = {
    "name": "Format",
    "code": "format",
    "type": "option",
    "product_class": "books",
    "option_group": GROUP,
}
CLASS = {
    "name": "Books",
    "attributes": [ATTRIBUTE],
    "options": [{"code": "gift", "name": "Gift wrap"}],
}
STOCK = {
    "partner": f"{BASE}admin/partners/2/",
    "partner_sku": "sku-9",
    "price": 7.25,
    "num_in_stock": 3,
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("admin_attributeoptiongroups__create", GROUP),
    ("admin_attributeoptiongroups__update", {"id": 1, **GROUP}),
    ("admin_attributeoptiongroups__partial_update", {"id": 1, **GROUP}),
    ("admin_attributeoptiongroups__destroy", {"id": 2}),
    ("admin_categories__create", {"name": "Travel", "is_public": False}),
    ("admin_categories__update", {"id": 1, "name": "Novels", "slug": "novels"}),
    ("admin_categories__partial_update", {"id": 2, "description": "dark"}),
    ("admin_categories__destroy", {"id": 1}),
    ("admin_category_children__create", {"breadcrumbs": "fiction/crime", "name": "Noir"}),
    ("admin_order_lineattributes__destroy", {"id": 1}),
    ("admin_order_lines__destroy", {"id": 1}),
    ("admin_orders__destroy", {"id": 1}),
    ("admin_partners__create", {"name": "Acme", "users": [f"{BASE}users/2/"]}),
    ("partners__update", {"id": 1, "name": "Acme"}),
    ("partners__partial_update", {"id": 1, "users": [f"{BASE}users/1/", f"{BASE}users/2/"]}),
    ("partners__destroy", {"id": 2}),
    ("admin_productattributes__create", ATTRIBUTE),
    ("admin_productattributes__update", {"id": 2, **ATTRIBUTE}),
    ("admin_productattributes__partial_update", {"id": 1, "required": True}),
    ("admin_productattributes__destroy", {"id": 1}),
    ("admin_productclasses__create", {**CLASS, "name": "Maps"}),
    ("admin_productclasses__update", {"slug": "books", **CLASS}),
    ("admin_productclasses__partial_update", {"slug": "games", "track_stock": False}),
    ("admin_productclasses__destroy", {"slug": "games"}),
    (
        "admin_products__create",
        {**PRODUCT, "upc": "978003", "slug": "novel-3", "stockrecords": [STOCK]},
    ),
    ("admin_products__update_without_key", PRODUCT),
    ("admin_products__partial_update_without_key", {"upc": "978001", "title": "By its code"}),
    ("admin_products__update_by_pk", {"id": 1, **PRODUCT}),
    ("admin_products__partial_update_by_pk", {"id": 2, "title": "By its key"}),
    ("admin_products__destroy", {"id": 2}),
    ("admin_stockrecords__update", {"id": 1, **STOCK}),
    ("admin_stockrecords__partial_update", {"id": 1, "num_in_stock": 0}),
    ("admin_stockrecords__destroy", {"id": 2}),
    ("admin_users__create", {"username": "bob", "email": "bob@example.org"}),
    ("admin_users__update", {"id": 2, "username": "anne"}),
    ("admin_users__partial_update", {"id": 2, "email": "anne@example.org"}),
    ("admin_users__destroy", {"id": 2}),
    ("api_basket_add_product__post", {"url": f"{BASE}products/1/", "quantity": 4}),
    ("api_basket_shipping_methods__post", ADDRESS),
    (
        "lineattributes__update",
        {"basket_pk": 1, "line_pk": 1, "id": 1, "option": f"{BASE}options/2/", "value": ["x"]},
    ),
    (
        "lineattributes__partial_update",
        {"basket_pk": 1, "line_pk": 1, "id": 1, "value": {"text": "ribbon"}},
    ),
    ("basket_lines__update", {"basket_pk": 1, "id": 1, **LINE}),
    ("basket_lines__partial_update", {"basket_pk": 1, "id": 1, "quantity": 7}),
    ("basket_lines__destroy", {"basket_pk": 1, "id": 1}),
    ("baskets__update", {"id": 1, "status": "Saved"}),
    ("baskets__partial_update", {"id": 1, "status": "Frozen"}),
    ("baskets__destroy", {"id": 1}),
    ("basket_lines__create", {"id": 1, **LINE}),
    (
        "api_checkout__post",
        {
            "basket": f"{BASE}baskets/1/",
            "shipping_address": {**ADDRESS, "phone_number": "+31263704887"},
        },
    ),
    ("api_login__delete", {}),
    (
        "api_register__post",
        {"email": "eve@example.org", "password1": "Str0ng enough", "password2": "Str0ng enough"},
    ),
    ("useraddresses__create", {**ADDRESS, "is_default_for_billing": True}),
    ("useraddresses__update", {"id": 1, **ADDRESS}),
    ("useraddresses__partial_update", {"id": 1, "title": "Dr"}),
    ("useraddresses__destroy", {"id": 1}),
]
NEVER = {
    "admin_category_bulk__post",  # its body is a list, which no schema declares
    "api_basket_add_voucher__post",  # no voucher is on offer
    "api_login__post",  # every caller with credentials is logged in
}

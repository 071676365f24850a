"""`fill`: a catalogue, baskets, offers, orders by Oscar's models. `read`: all rows of all models. `change`: orders go
on. `sign-in`: a customer, who puts a product into the basket, and the shop's staff."""

import datetime as dt
import random
import sys
from decimal import Decimal

import django

django.setup()

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model
from oscar.test import factories

import django_rows

Product, Category, Kind = (get_model("catalogue", name) for name in ("Product", "Category", "ProductClass"))
Order, Stock, Basket, Voucher, Country = (get_model(*name.split(".")) for name in ("order.Order", "partner.StockRecord", "basket.Basket", "voucher.Voucher", "address.Country"))
MOMENT = dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc)
VALUES = {"text": "日本語 'quoted' \\", "richtext": "<p>ü</p>", "integer": -(2**31), "float": 0.1, "boolean": True, "date": dt.date(2024, 2, 29), "datetime": MOMENT}
PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")


def product(kind, number, **values):
    one = Product(product_class=kind, title=f"Straße {number}", upc=f"upc {number}", description="text", **values)
    for code, value in VALUES.items():
        setattr(one.attr, code, value)
    one.save()
    one.categories.add(create_from_breadcrumbs(f"Books > Fiction {number % 3}"))
    factories.create_stockrecord(one, Decimal(["0.01", "9.99", "1234567.80"][number % 3]), f"sku {number}", 50, "Partner ü")
    return one


def order(number, user, products):
    basket = factories.BasketFactory(owner=user)
    for one in products:
        basket.add_product(one, quantity=2)
    address = {"country": Country.objects.get(pk="DE"), "phone_number": "+49 351 3296645"}
    factories.create_order(f"order {number}", basket, user, factories.ShippingAddressFactory(**address), billing_address=factories.BillingAddressFactory(country=address["country"]))


def fill():
    ann = User.objects.create_superuser("ann", "ann@example.org", "secret of ann")
    bob = User.objects.create_user("bob", "bob@example.org", "secret of bob")
    kind = Kind.objects.create(name="Book ü")
    for code in VALUES:
        kind.attributes.create(name=code, code=code, type=code)
    products = [product(kind, number, is_public=number % 5 > 0) for number in range(20)]
    for number in (0, 1):
        products[0].images.create(original=SimpleUploadedFile(f"{number}.gif", PIXEL), caption="picture", display_order=number)
        products[0].reviews.create(user=(ann, bob)[number], score=number + 3, title="good", body="read it")
    products[0].recommended_products.through.objects.create(primary=products[0], recommendation=products[1], ranking=2)
    factories.create_offer(name="Offer")
    factories.create_voucher(code="CODE", start_datetime=MOMENT, end_datetime=MOMENT + dt.timedelta(days=400))
    factories.UserAddressFactory(user=bob, country=Country.objects.get(pk="FR"))
    factories.WishListFactory(owner=bob).add(products[2])
    factories.ProductAlertFactory(user=bob, product=products[3])
    for number in range(8):
        order(number, (ann, bob)[number % 2], products[number:number + 3])
    Order.objects.first().set_status("Sent")


def read():
    # What the clock and chance give to changes.
    hidden = ("date_created", "date_updated", "date_last_order", "date_placed", "date_submitted", "date_stored", "date_used", "action_time", "last_login", "date_joined",
              "last_updated", "start_datetime", "end_datetime", "key", "password", "token") if sys.argv[2] == "changed" else ()
    django_rows.read(without=("oscar",), hidden=hidden)  # models of its tests, without tables


def change():
    random.seed(1)
    bob = User.objects.get(username="bob")
    first, second, third = Product.objects.filter(upc__in=["upc 1", "upc 2", "upc 3"]).order_by("upc")
    new = product(Kind.objects.get(), 100)
    order(100, bob, [new, second])
    first.title, first.attr.float, first.attr.text = "Edited", 1e300, "edited"
    first.save()
    third.delete()
    Stock.objects.filter(product=second).update(price=Decimal("5.55"))
    Order.objects.get(number="order 2").set_status("Cancelled")
    Order.objects.get(number="order 3").delete()
    Category.objects.get(name="Fiction 1").move(Category.objects.get(name="Books"), pos="first-child")
    Category.objects.get(name="Books").add_child(name="New ü")
    Voucher.objects.get().record_usage(Order.objects.first(), bob)
    first.reviews.create(user=bob, score=5, title="new", body=str(sorted(Product.objects.filter(stockrecords__price__gt=5, is_public=True).values_list("title", flat=True))))
    User.objects.create_user("new")


def sign_in():
    client = Client()
    for email, secret, code in (("bob@example.org", "wrong", 200), ("bob@example.org", "secret of bob", 302)):
        assert client.post("/accounts/login/", {"login-username": email, "login-password": secret, "login_submit": "x"}).status_code == code
    one = Product.objects.get(upc="upc 1")
    assert client.post(f"/basket/add/{one.pk}/", {"quantity": 2}).status_code == 302
    assert Basket.objects.filter(owner__username="bob", status="Open", lines__product=one).exists()
    staff = Client()
    assert staff.login(username="ann@example.org", password="secret of ann")
    for who, address in ((client, one.get_absolute_url()), (client, "/catalogue/"), (client, "/basket/"), (client, "/accounts/orders/"), (client, "/accounts/orders/order 1/"),
                         (client, "/search/?q=Edited"), (staff, "/dashboard/"), (staff, "/dashboard/orders/"), (staff, "/dashboard/catalogue/"), (staff, "/admin/order/order/")):
        answer = who.get(address)
        assert answer.status_code == 200, (address, answer.status_code)


{"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()

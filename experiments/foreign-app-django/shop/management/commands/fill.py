"""`manage.py fill ORDERS` makes customers and orders, the same ones every time."""

import random
import uuid
from datetime import date, timedelta

from django.core.management.base import BaseCommand

from shop.models import Customer, Order


class Command(BaseCommand):
    def add_arguments(self, parser):
        parser.add_argument("orders", type=int)

    def handle(self, *, orders, **_):
        chance = random.Random(1)
        countries = ["de", "fr", "hu", "us"]
        customers = [Customer(name=f"customer {n}", country=chance.choice(countries)) for n in range(2_000)]
        Customer.objects.bulk_create(customers)
        keys = list(Customer.objects.values_list("pk", flat=True))
        made = (
            Order(
                customer_id=chance.choice(keys),
                token=uuid.UUID(int=chance.getrandbits(128)),
                day=date(2026, 1, 1) + timedelta(days=chance.randrange(365)),
                total=chance.randrange(100, 20_000) / 100,
            )
            for _ in range(orders)
        )
        Order.objects.bulk_create(made, batch_size=5_000)

"""Three pages: one order, the orders of a country, sales by country."""

from django.db.models import Count, Sum
from django.http import JsonResponse
from django.urls import path

from .models import Order


def index(request):
    return JsonResponse({"ready": True})


def order(request, key):
    found = Order.objects.select_related("customer").get(pk=key)
    return JsonResponse({"customer": found.customer.name, "day": found.day, "total": found.total})


def orders(request):
    found = Order.objects.filter(customer__country=request.GET["country"]).order_by("-day", "id")[:50]
    return JsonResponse({"rows": list(found.values("id", "day", "total"))})


def sales(request):
    groups = Order.objects.values("customer__country").order_by("customer__country")
    return JsonResponse({"rows": list(groups.annotate(orders=Count("id"), total=Sum("total")))})


urlpatterns = [
    path("", index),
    path("orders/<int:key>", order),
    path("orders", orders),
    path("sales", sales),
]

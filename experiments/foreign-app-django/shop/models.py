"""Customers and their orders."""

from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=40)
    country = models.CharField(max_length=2, db_index=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    token = models.UUIDField(unique=True)
    day = models.DateField(db_index=True)
    total = models.DecimalField(max_digits=10, decimal_places=2)

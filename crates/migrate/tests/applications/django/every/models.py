"""A field of each type that Django has for every database, and each kind of relation and constraint."""

import uuid

from django.contrib import admin
from django.contrib.contenttypes.fields import GenericForeignKey, GenericRelation
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now


class Fields(models.Model):
    char = models.CharField(max_length=40)
    char_without_end = models.CharField(null=True, max_length=2000)
    text = models.TextField(blank=True)
    slug = models.SlugField(unique=True)
    email = models.EmailField()
    url = models.URLField()
    small = models.SmallIntegerField()
    positive_small = models.PositiveSmallIntegerField()
    integer = models.IntegerField()
    positive = models.PositiveIntegerField()
    big = models.BigIntegerField()
    positive_big = models.PositiveBigIntegerField()
    yes = models.BooleanField(default=True)
    perhaps = models.BooleanField(null=True)
    price = models.DecimalField(max_digits=12, decimal_places=2)
    precise = models.DecimalField(max_digits=15, decimal_places=6, null=True)
    ratio = models.FloatField()
    day = models.DateField()
    moment = models.DateTimeField()
    moment_or_none = models.DateTimeField(null=True)
    clock = models.TimeField()
    length = models.DurationField()
    length_or_none = models.DurationField(null=True)
    identifier = models.UUIDField(default=uuid.uuid4, unique=True)
    identifier_or_none = models.UUIDField(null=True)
    document = models.JSONField(default=dict)
    document_or_none = models.JSONField(null=True)
    content = models.BinaryField()
    address = models.GenericIPAddressField()
    address_or_none = models.GenericIPAddressField(null=True, unpack_ipv4=True)
    address4 = models.GenericIPAddressField(protocol="IPv4")
    file = models.FileField(upload_to="files")
    path = models.FilePathField(path="/", null=True)
    choice = models.CharField(max_length=1, choices=[("a", "first"), ("b", "second")])
    made_by_database = models.CharField(max_length=10, db_default="new")
    since = models.DateTimeField(db_default=Now())
    doubled = models.GeneratedField(expression=F("positive_small") * 2, output_field=models.BigIntegerField(), db_persist=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="price_not_negative"),
            models.CheckConstraint(condition=Q(small__lt=F("integer")) | Q(yes=False), name="small_below_integer"),
            models.UniqueConstraint(fields=["char", "day"], name="one_char_a_day"),
            models.UniqueConstraint(Lower("email"), name="one_email"),
            models.UniqueConstraint(fields=["integer"], condition=Q(yes=True), name="one_yes"),
        ]
        indexes = [models.Index(fields=["-moment", "char"]), models.Index(fields=["ratio"], condition=Q(ratio__gt=0), name="ratios")]


class Note(models.Model):
    """Of anything, by its type and key."""

    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.CharField(max_length=36)
    of = GenericForeignKey("content_type", "object_id")
    text = models.TextField()


class Tag(models.Model):
    name = models.CharField(max_length=30, primary_key=True)


class Member(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=60)
    boss = models.ForeignKey("self", models.CASCADE, null=True, related_name="staff")
    friends = models.ManyToManyField("self")
    tags = models.ManyToManyField(Tag)
    notes = GenericRelation(Note)


class Team(models.Model):
    code = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=60, unique=True, db_column="Team Name")


class Membership(models.Model):
    pk = models.CompositePrimaryKey("team", "member")
    team = models.ForeignKey(Team, models.CASCADE)
    member = models.ForeignKey(Member, models.CASCADE)
    joined = models.DateField()


class Profile(models.Model):
    member = models.OneToOneField(Member, models.CASCADE, primary_key=True)
    about = models.TextField()


class Place(models.Model):
    name = models.CharField(max_length=60)


class Restaurant(Place):
    """A table of its own for what a place has not."""

    stars = models.PositiveSmallIntegerField(null=True)


class Empty(models.Model):
    """Without rows, so that its first key is given by the target."""

    name = models.CharField(max_length=10)


admin.site.register([Fields, Note, Tag, Member, Team, Profile, Restaurant])

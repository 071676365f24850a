"""A page with each kind of content that Wagtail's guide has."""

from django import forms
from django.db import models
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey, ParentalManyToManyField
from taggit.models import TaggedItemBase
from wagtail import blocks
from wagtail.admin.panels import FieldPanel, InlinePanel
from wagtail.contrib.settings.models import BaseSiteSetting, register_setting
from wagtail.fields import RichTextField, StreamField
from wagtail.images.blocks import ImageChooserBlock
from wagtail.models import Orderable, Page
from wagtail.search import index
from wagtail.snippets.models import register_snippet


class ArticleTag(TaggedItemBase):
    content_object = ParentalKey("Article", related_name="tagged_items", on_delete=models.CASCADE)


@register_snippet
class Author(models.Model):
    name = models.CharField(max_length=60)
    panels = [FieldPanel("name")]

    def __str__(self):
        return self.name


class Article(Page):
    day = models.DateField()
    intro = RichTextField(blank=True)
    body = StreamField([("heading", blocks.CharBlock()), ("paragraph", blocks.RichTextBlock()), ("image", ImageChooserBlock())])
    authors = ParentalManyToManyField(Author, blank=True)
    tags = ClusterTaggableManager(through=ArticleTag, blank=True)
    search_fields = [*Page.search_fields, index.SearchField("intro"), index.SearchField("body"), index.FilterField("day")]
    content_panels = [*Page.content_panels, FieldPanel("day"), FieldPanel("intro"), FieldPanel("body"),
                      FieldPanel("authors", widget=forms.CheckboxSelectMultiple), FieldPanel("tags"), InlinePanel("gallery")]


class GalleryImage(Orderable):
    page = ParentalKey(Article, on_delete=models.CASCADE, related_name="gallery")
    image = models.ForeignKey("wagtailimages.Image", models.CASCADE, related_name="+")
    caption = models.CharField(blank=True, max_length=250)


@register_setting
class Contact(BaseSiteSetting):
    mail = models.EmailField()

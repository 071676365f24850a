"""`fill`: pages, images, people. `read`: all rows. `change`: of each table a row inserted, one edited, one deleted.
`sign-in`: an editor, who edits a page; visitors see it."""

import datetime as dt
import io
import os
import random
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mysite.settings.dev")
django.setup()

from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image as Picture
from wagtail.contrib.redirects.models import Redirect
from wagtail.documents.models import Document
from wagtail.images.models import Image
from wagtail.models import Collection, Comment, Locale, Page, PageViewRestriction, Site, Task, Workflow, WorkflowTask

import django_rows
from blog.models import *

# What the clock gives to changes; and the index of texts, which each database makes for itself.
CHANGING = ("latest_revision_created_at", "last_published_at", "first_published_at", "created_at", "updated_at", "timestamp",
            "date_joined", "last_login", "content", "file")
OWN = ("wagtailsearch",)


def picture(name, colour):
    file = io.BytesIO()
    Picture.new("RGB", (40, 30), colour).save(file, "PNG")
    return Image.objects.create(title=name, file=SimpleUploadedFile(f"{name}.png", file.getvalue()))


def article(parent, number, image, authors, user):
    page = Article(
        title=f"Article {number} Straße", slug=f"article-{number}", day=dt.date(2024, 2, 29), intro=f"<p>Intro <b>{number}</b></p>",
        body=[("heading", f"Heading {number}"), ("paragraph", "<p>日本語 'quoted' \\ </p>"), ("image", image)], live=number % 4 != 0)
    page.authors = authors
    page.tags.add("red", f"tag {number}")
    page.gallery = [GalleryImage(image=image, caption=f"caption {number}")]
    parent.add_child(instance=page)
    page.save_revision(user=user, log_action=True)
    return page


def fill():
    ann = User.objects.create_superuser("ann", "ann@example.org", "secret of ann")
    User.objects.create_user("bob", password="secret of bob").groups.add(Group.objects.get(name="Editors"))
    home = Page.objects.get(depth=2)
    images = [picture(f"picture {number}", colour) for number, colour in enumerate(("red", "green", "blue"))]
    authors = [Author.objects.create(name=name) for name in ("A. Author", "Ünal", "C")]
    pages = [article(home, number, images[number % 3], authors[: number % 3], ann) for number in range(1, 21)]
    for number in range(21, 24):
        article(pages[0], number, images[0], authors, ann)
    pages[1].move(pages[2], pos="last-child")
    pages[3].get_latest_revision().publish()
    pages[4].unpublish()
    pages[5].delete()
    Contact.objects.create(site=Site.objects.get(), mail="c@example.org")
    Document.objects.create(title="text", file=SimpleUploadedFile("text.txt", b"text"))
    Redirect.objects.create(old_path="/old", redirect_page=pages[0], site=Site.objects.get())
    PageViewRestriction.objects.create(page=pages[6], restriction_type="password", password="open")
    Collection.get_first_root_node().add_child(name="Holidays")
    Comment.objects.create(page=pages[0], user=ann, text="a comment", contentpath="title")
    workflow, task = Workflow.objects.create(name="approval"), Task.objects.get(pk=1)
    WorkflowTask.objects.create(workflow=workflow, task=task)
    assert Client().get("/article-1/").status_code == 200


def read():
    django_rows.read(without=OWN, hidden=CHANGING if sys.argv[2] == "changed" else ())


def change():
    os.urandom = random.Random(1).randbytes  # the same identifiers in both databases
    ann = User.objects.get(username="ann")
    home = Page.objects.get(depth=2)
    image = picture("new", "white")
    author = Author.objects.create(name="new")
    Author.objects.filter(pk=1).update(name="edited")
    Author.objects.get(pk=3).delete()
    page = article(home, 100, image, [author], ann)
    page.get_latest_revision().publish(user=ann)
    edited = Article.objects.get(slug="article-10")
    edited.title, edited.intro = "Edited", "<p>edited</p>"
    edited.tags.remove("red")
    edited.gallery.add(GalleryImage(image=image, caption="second"))
    edited.save_revision(user=ann).publish()
    Article.objects.get(slug="article-11").delete()
    Article.objects.get(slug="article-12").move(edited, pos="last-child")
    Article.objects.get(slug="article-13").copy(update_attrs={"slug": "copied"}, copy_revisions=False)
    Image.objects.get(title="picture 2").delete()
    Document.objects.create(title="new", file=SimpleUploadedFile("new.txt", b"new"))
    Document.objects.filter(title="text").update(title="edited")
    Redirect.objects.create(old_path="/new", redirect_link="/article-1/")
    Redirect.objects.filter(old_path="/old").delete()
    Locale.objects.create(language_code="de")
    Contact.objects.update(mail="edited@example.org")
    Collection.objects.get(name="Holidays").add_child(name="deeper")
    Comment.objects.create(page=page, user=ann, text="new", contentpath="title")
    Comment.objects.get(text="a comment").delete()
    User.objects.get(username="bob").delete()
    User.objects.create(username="new").groups.add(Group.objects.create(name="new"))
    PageViewRestriction.objects.update(password="edited")
    Workflow.objects.filter(name="approval").update(name="edited")


def sign_in():
    editor, visitor = Client(), Client()
    editor.post("/admin/login/", {"username": "ann", "password": "wrong"})
    assert editor.get("/admin/").status_code == 302
    assert editor.post("/admin/login/", {"username": "ann", "password": "secret of ann"}).status_code == 302
    page = Article.objects.get(slug="article-9")
    for address in ("/admin/", f"/admin/pages/{page.pk}/edit/", f"/admin/pages/{page.pk}/history/", "/admin/images/", "/admin/documents/",
                    "/admin/snippets/blog/author/", "/admin/reports/site-history/", "/admin/pages/search/?q=article"):
        answer = editor.get(address)
        assert answer.status_code == 200, (address, answer.status_code)
    answer = visitor.get("/article-9/")
    assert answer.status_code == 200 and "Article 9 Straße" in answer.content.decode() and "<b>red</b>" in answer.content.decode()
    assert visitor.get("/article-8/").status_code == 404
    assert visitor.get("/article-7/").status_code == 200 and "password" in visitor.get("/article-7/").content.decode()
    found = visitor.get("/search/?query=Edited").content.decode()
    assert "/article-10/" in found, found


{"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()

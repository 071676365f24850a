"""`fill`: a tree of pages in two languages with versions, texts and permissions, by django CMS's functions. `read`: all
rows. `change`: pages edited, moved, deleted. `sign-in`: an editor, and visitors."""

import sys

import django

django.setup()

from cms.api import add_plugin, assign_user_to_page, create_page, create_page_content
from cms.models import CMSPlugin, Page, PageContent
from django.contrib.auth.models import Group, User
from django.contrib.sites.models import Site
from django.db import transaction
from django.test import Client
from djangocms_versioning.constants import DRAFT, PUBLISHED
from djangocms_versioning.models import Version

import django_rows


def page(title, parent, user, published=True):
    one = create_page(title, "page.html", "en", created_by=user, parent=parent, in_navigation=True, meta_description="日本語 'quoted' \\")
    create_page_content("de", f"{title} Straße", one, created_by=user)
    for content in PageContent.admin_manager.filter(page=one).order_by("pk"):
        placeholder = content.get_placeholders()[0] if content.get_placeholders() else content.placeholders.create(slot="content")
        for number in range(2):
            add_plugin(placeholder, "TextPlugin", content.language, body=f"<p>{title} {number} ü</p>", json={"type": "doc", "content": [number, 0.1, None, "ü"]})
        if published:
            Version.objects.get_for_content(content).publish(user)
    return one


def version(slug, state):
    return Version.objects.filter_by_content_grouping_values(PageContent.admin_manager.filter(page__urls__slug=slug, language="en").first()).filter(state=state).get()


def fill():
    ann = User.objects.create_superuser("ann", "ann@example.org", "secret of ann")
    bob = User.objects.create_user("bob", "bob@example.org", "secret of bob", is_staff=True)
    bob.groups.add(Group.objects.create(name="Editors ü"))
    home = page("Home", None, ann)
    home.set_as_homepage(ann)
    for number in range(4):
        part = page(f"Part {number}", None, ann, number != 3)
        for under in range(3):
            page(f"Leaf {number} {under}", part, bob)
    assign_user_to_page(Page.objects.get(urls__slug="part-1", urls__language="en"), bob, can_change=True, can_add=True)
    version("leaf-1-1", PUBLISHED).unpublish(ann)
    version("part-2", PUBLISHED).copy(bob)


def read():
    # What the clock gives to changes.
    hidden = ("created", "modified", "changed_date", "creation_date", "date", "date_joined", "last_login", "password") if sys.argv[2] == "changed" else ()
    django_rows.read(hidden=hidden)


def change():
    ann, bob = User.objects.get(username="ann"), User.objects.get(username="bob")
    page("New ü", Page.objects.get(urls__slug="part-0", urls__language="en"), ann)
    draft = version("part-2", DRAFT)
    draft.content.title = "Edited"
    draft.content.save()
    plugins = CMSPlugin.objects.filter(placeholder__in=draft.content.get_placeholders()).order_by("position")
    draft.content.get_placeholders()[0].delete_plugin(plugins.first())
    add_plugin(draft.content.get_placeholders()[0], "TextPlugin", "en", body=f"<p>{Page.objects.filter(path__startswith='0001').count()} new</p>", json=None)
    draft.publish(bob)
    Page.objects.get(urls__slug="leaf-1-0", urls__language="en").move_page(Page.objects.get(urls__slug="part-0", urls__language="en"), "first-child")
    Page.objects.get(urls__slug="leaf-2-2", urls__language="en").delete()
    version("leaf-0-0", PUBLISHED).copy(bob)
    Site.objects.create(domain="new.example.org", name="new")
    User.objects.create_user("new").groups.add(Group.objects.get())


def sign_in():
    client, visitor = Client(), Client()
    client.post("/en/admin/login/", {"username": "ann", "password": "wrong"})
    assert client.get("/en/admin/").status_code == 302
    client.post("/en/admin/login/", {"username": "ann", "password": "secret of ann"})
    content = version("part-2", PUBLISHED).content
    for who, address in ((client, "admin/"), (client, "admin/cms/pagecontent/"), (client, f"admin/cms/pagecontent/{content.pk}/change/"), (client, f"admin/cms/page/{content.page.pk}/change/"),
                         (client, "admin/djangocms_versioning/pagecontentversion/?page=%d&language=en" % content.page.pk), (visitor, ""), (visitor, "part-2/"), (visitor, "part-0/leaf-1-0/")):
        answer = who.get(f"/en/{address}")
        assert answer.status_code == 200, (address, answer.status_code)
    assert "new</p>" in visitor.get("/en/part-2/").content.decode()
    assert visitor.get("/en/part-3/").status_code == 404


with transaction.atomic():
    {"fill": fill, "read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()

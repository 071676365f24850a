"""All rows of all models of a Django project, and its relations as the models follow them."""

from django.apps import apps

from told import print_rows


def read(without=(), hidden=()):
    """Of all applications but those `without`; columns that are `hidden` are left out."""
    models = [model for model in apps.get_models(include_auto_created=True)
              if model._meta.managed and not model._meta.proxy and model._meta.app_label not in without]
    for model in models:
        names = [field.attname for field in model._meta.concrete_fields if field.attname not in hidden]
        print_rows(model._meta.label, names, model._base_manager.values_list(*names))
    for model in models:
        for field in model._meta.many_to_many:
            pairs = [(row.pk, sorted(str(key) for key in getattr(row, field.name).values_list("pk", flat=True)))
                     for row in model._base_manager.all()]
            print_rows(f"{model._meta.label}.{field.name}", ["of", "to"], pairs)

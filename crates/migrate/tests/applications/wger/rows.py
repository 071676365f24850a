"""`read`: all rows of all models. `change`: workouts, meals, weights, an exercise and its history inserted, edited,
deleted. `sign-in`: a member, who opens pages and asks the REST API."""

import datetime as dt
import sys
import uuid
from decimal import Decimal

import django

django.setup()

from django.contrib.auth.models import User
from django.test import Client
from wger.core.models import DaysOfWeek, License
from wger.exercises.models import Equipment, Exercise, ExerciseBase, ExerciseComment, Muscle
from wger.manager.models import Day, Set, Setting, Workout, WorkoutLog, WorkoutSession
from wger.measurements.models import Category, Measurement
from wger.nutrition.models import Ingredient, LogItem, Meal, MealItem, NutritionPlan
from wger.weight.models import WeightEntry

import django_rows


def read():
    # What the clock and chance give to changes.
    hidden = ("update_date", "creation_date", "history_date", "date_joined", "last_login", "last_activity", "created", "key", "password") if sys.argv[2] == "changed" else ()
    django_rows.read(hidden=hidden)


def change():
    number = Workout.objects.count()
    user, day = User.objects.get(username="test"), dt.date(2024, 2, 29) + dt.timedelta(days=number)
    User.objects.create_user(f"new {number}", password="secret")
    workout = Workout.objects.create(user=user, name=f"Straße {number}", description="日本語 'quoted' \\")
    training = Day.objects.create(training=workout, description="new")
    training.day.set(DaysOfWeek.objects.order_by("pk")[:3])
    base = ExerciseBase.objects.create(uuid=uuid.UUID(int=number), category_id=1, license=License.objects.first(), license_author="ü")
    base.muscles.set(Muscle.objects.order_by("pk")[:2])
    base.equipment.set(Equipment.objects.order_by("pk")[:2])
    exercise = Exercise.objects.create(uuid=uuid.UUID(int=number + 1000), exercise_base=base, name=f"Übung {number}", description="<p>new</p>", language_id=2)
    exercise.name = "Edited"
    exercise.save()
    ExerciseComment.objects.create(exercise=exercise, comment="comment ü")
    one = Set.objects.create(exerciseday=training, sets=4, order=1)
    Setting.objects.create(set=one, exercise_base=base, reps=8, weight=Decimal("12.25"), order=1, comment="slowly")
    WorkoutLog.objects.create(user=user, exercise_base=base, workout=workout, reps=8, weight=Decimal("0.01"), date=day, rir="1.5")
    WorkoutSession.objects.create(user=user, workout=workout, date=day, notes="ü", impression="3", time_start=dt.time(10, 0), time_end=dt.time(11, 30, 1, 5))
    plan = NutritionPlan.objects.create(user=user, language_id=2, description="plan ü")
    meal = Meal.objects.create(plan=plan, time=dt.time(23, 59, 59), order=1, name="late")
    food = Ingredient.objects.order_by("pk").first()
    MealItem.objects.create(meal=meal, ingredient=food, order=1, amount=Decimal("100.50"))
    LogItem.objects.create(plan=plan, meal=meal, ingredient=food, amount=Decimal("7"), datetime=dt.datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=dt.timezone.utc))
    WeightEntry.objects.create(user=user, date=day, weight=Decimal("81.5"))
    Measurement.objects.create(category=Category.objects.create(user=user, name="arm", unit="cm"), date=day, value=Decimal("33.33"), notes=str(plan.get_nutritional_values()["total"]["energy"]))
    WeightEntry.objects.order_by("pk").first().delete()
    Exercise.objects.order_by("pk").first().delete()
    Ingredient.objects.filter(pk=food.pk).update(name=f"edited {Ingredient.objects.filter(protein__gt=5).count()}")
    MealItem.objects.order_by("pk").first().delete()


def sign_in():
    client = Client()
    client.post("/en/user/login", {"username": "test", "password": "wrong"})
    assert "_auth_user_id" not in client.session
    client.post("/en/user/login", {"username": "test", "password": "testtest"})
    assert "_auth_user_id" in client.session
    workout = Workout.objects.filter(user__username="test").order_by("pk").last()
    for address in ("en/dashboard", "en/workout/overview", f"en/workout/{workout.pk}/view", "en/nutrition/overview/", "en/exercise/overview/", "en/weight/overview/test",
                    "api/v2/workout/", "api/v2/weightentry/?ordering=-weight", "api/v2/ingredient/?name=edited", "api/v2/mealitem/", "api/v2/exercisebaseinfo/"):
        answer = client.get(f"/{address}")
        assert answer.status_code == 200, (address, answer.status_code)


{"read": read, "change": change, "sign-in": sign_in}[sys.argv[1]]()

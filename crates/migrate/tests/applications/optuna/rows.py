"""`tables`: Optuna makes its tables where it is opened. `fill`: studies. `read`: all rows. `change`: studies go on."""

import os
import sys

import optuna
import sqlalchemy as sa
from optuna.storages._rdb.models import BaseModel

import sqlalchemy_rows

uri = os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")
storage = optuna.storages.RDBStorage(uri)
optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    x = trial.suggest_float("x", -1e6, 1e6)
    rate = trial.suggest_float("rate", 1e-300, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 9)
    kind = trial.suggest_categorical("kind", ["a", "Straße", None, True, 2.5])
    trial.set_user_attr("note", {"日本語": [1, None]})
    for step in range(3):
        trial.report([x, float("inf"), float("nan")][step], step)
    if trial.number % 7 == 3:
        raise optuna.TrialPruned()
    return [x, float("inf"), -float("inf"), rate][trial.number % 4] + layers * (kind is None)


def fill():
    for number in range(3):
        study = optuna.create_study(storage=storage, study_name=f"study {number}", sampler=optuna.samplers.RandomSampler(seed=number))
        study.set_user_attr("team", "a")
        study.optimize(objective, n_trials=20)
    optuna.delete_study(study_name="study 2", storage=storage)
    optuna.create_study(storage=storage, study_name="two", directions=["minimize", "maximize"]).enqueue_trial({"x": 1.5})


def read():
    # The clock's; and the keys that PostgreSQL's upserts use up.
    hidden = ("_datetime_start_utc", "_datetime_complete_utc", "study_user_attribute_id") if sys.argv[2] == "changed" else ()
    sqlalchemy_rows.read(BaseModel, sa.create_engine(uri), hidden)


def change():
    study = optuna.load_study(storage=storage, study_name="study 0", sampler=optuna.samplers.RandomSampler(seed=9))
    study.optimize(objective, n_trials=5)
    study.set_user_attr("team", "edited")
    study.set_user_attr("best", repr((study.best_value, study.best_params, study.best_trial.number)))
    optuna.delete_study(study_name="study 1", storage=storage)


{"tables": lambda: None, "fill": fill, "read": read, "change": change}[sys.argv[1]]()

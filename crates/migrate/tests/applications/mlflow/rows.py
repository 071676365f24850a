"""`fill`: experiments, runs, models by MLflow's client. `read`: all rows of its models. `change`: by the client again."""

import math
import os
import sys

import sqlalchemy as sa
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.store.tracking.dbmodels.models import Base

import sqlalchemy_rows

uri = os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:")
client = MlflowClient(tracking_uri=uri, registry_uri=uri)


def run(experiment, number):
    one = client.create_run(experiment, start_time=1_700_000_000_000 + number, run_name=f"run {number} Straße", tags={"kind": "new"})
    values = [0.1, -1e300, math.inf, -math.inf, math.nan, 3.0]
    metrics = [Metric("loss", values[(number + step) % 6], 1_700_000_000_000 + step, step) for step in range(12)]
    client.log_batch(one.info.run_id, metrics, [Param("rate", "0.1"), Param("text", "日本語 'quoted' \\")], [RunTag("long", "x" * 4000)])
    client.set_terminated(one.info.run_id, "FINISHED" if number % 2 else "FAILED", end_time=1_700_000_100_000)
    return one.info.run_id


def fill():
    experiments = [client.create_experiment(f"experiment {number}", f"/tmp/{number}", {"team": "a"}) for number in range(3)]
    runs = [run(experiments[number % 3], number) for number in range(12)]
    client.delete_run(runs[3])
    client.delete_experiment(experiments[2])
    for name in ("model", "other"):
        client.create_registered_model(name, {"tag": "value"}, "a model")
        for number in range(3):
            client.create_model_version(name, f"/tmp/{number}", runs[number], {"kind": name}, description="version")
    client.set_registered_model_alias("model", "champion", "2")
    client.delete_model_version("other", "3")


def read():
    engine = sa.create_engine(uri)
    # What the clock and chance give to changes.
    hidden = ("run_uuid", "artifact_uri", "creation_time", "last_updated_time", "last_update_time", "experiment_id", "run_id", "timestamp", "deleted_time",
              "artifact_location") if sys.argv[2] == "changed" else ()
    sqlalchemy_rows.read(Base, engine, hidden)


def change():
    experiment = client.get_experiment_by_name("experiment 0").experiment_id
    first = client.search_runs([experiment], order_by=["attributes.start_time"])[0].info.run_id
    run(experiment, 100)
    run(client.create_experiment("new", "/tmp/new"), 101)
    client.log_metric(first, "loss", 7.5, 1_700_000_000_000, 100)
    client.set_tag(first, "kind", "edited")
    client.delete_tag(first, "long")
    client.rename_experiment(experiment, "renamed")
    client.restore_experiment(client.search_experiments(view_type=2, filter_string="name = 'experiment 2'")[0].experiment_id)
    client.delete_registered_model("other")
    version = client.create_model_version("model", "/tmp/new", first)
    assert int(version.version) == 4, version
    client.set_registered_model_alias("model", "champion", "4")
    client.update_registered_model("model", "edited")
    for number, question in enumerate(("metrics.loss > 0", "params.rate = '0.1'", "tags.kind = 'edited'", "attributes.status = 'FAILED'", "attributes.run_name LIKE 'run 1%'")):
        found = client.search_runs([experiment], question)
        client.set_tag(first, f"question {number}", str(sorted(one.info.run_name for one in found)))


{"fill": fill, "read": read, "change": change}[sys.argv[1]]()

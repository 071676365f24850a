-- From version 3 to 4: days that were imported, so that a missing day is not one without traffic.
CREATE TABLE "imported_days" (
    "blog_id" integer NOT NULL,
    "day" integer NOT NULL,
    "state" varchar(16) NOT NULL,
    PRIMARY KEY ("blog_id", "day"),
    FOREIGN KEY ("blog_id") REFERENCES "blogs" ("id")
) WITHOUT ROWID;
INSERT INTO imported_days (blog_id, day, state)
    SELECT DISTINCT articles.blog_id, traffic.day, 'complete'
    FROM traffic JOIN articles ON articles.id = traffic.article_id;
CREATE TRIGGER imported_days_insert AFTER insert ON imported_days BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER imported_days_update AFTER update ON imported_days BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER imported_days_delete AFTER delete ON imported_days BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
UPDATE schema_version SET version = 4;

-- From version 1 to 2: traffic of no article, a number for every state of the data, totals in pages.
DROP TABLE IF EXISTS article_days;
DROP TABLE IF EXISTS article_months;
DROP TABLE IF EXISTS article_years;
DROP TABLE IF EXISTS country_quarters;
DROP TABLE IF EXISTS dimension_totals;
CREATE TABLE "unmatched_traffic" (
    "day" integer NOT NULL,
    "url" varchar(1024) NOT NULL,
    "country_id" integer NOT NULL,
    "pageviews" integer NOT NULL,
    "sessions" integer NOT NULL,
    "engagement_seconds" integer NOT NULL,
    PRIMARY KEY ("day", "url", "country_id"),
    FOREIGN KEY ("country_id") REFERENCES "countries" ("id")
) WITHOUT ROWID;
DROP TABLE schema_version;
CREATE TABLE "schema_version" (
    "version" integer NOT NULL PRIMARY KEY,
    "data_version" integer NOT NULL,
    "totals_version" integer
);
INSERT INTO schema_version VALUES (2, 0, NULL);
CREATE TABLE "totals" (
    "kind" integer NOT NULL,
    "grain" integer NOT NULL,
    "day" integer NOT NULL,
    "content" blob NOT NULL,
    PRIMARY KEY ("kind", "grain", "day")
) WITHOUT ROWID;
CREATE TRIGGER blogs_insert AFTER insert ON blogs BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER blogs_update AFTER update ON blogs BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER blogs_delete AFTER delete ON blogs BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER authors_insert AFTER insert ON authors BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER authors_update AFTER update ON authors BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER authors_delete AFTER delete ON authors BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER teams_insert AFTER insert ON teams BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER teams_update AFTER update ON teams BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER teams_delete AFTER delete ON teams BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER products_insert AFTER insert ON products BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER products_update AFTER update ON products BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER products_delete AFTER delete ON products BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER languages_insert AFTER insert ON languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER languages_update AFTER update ON languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER languages_delete AFTER delete ON languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER human_languages_insert AFTER insert ON human_languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER human_languages_update AFTER update ON human_languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER human_languages_delete AFTER delete ON human_languages BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER countries_insert AFTER insert ON countries BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER countries_update AFTER update ON countries BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER countries_delete AFTER delete ON countries BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER articles_insert AFTER insert ON articles BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER articles_update AFTER update ON articles BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER articles_delete AFTER delete ON articles BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER traffic_insert AFTER insert ON traffic BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER traffic_update AFTER update ON traffic BEGIN UPDATE schema_version SET data_version = data_version + 1; END;
CREATE TRIGGER traffic_delete AFTER delete ON traffic BEGIN UPDATE schema_version SET data_version = data_version + 1; END;

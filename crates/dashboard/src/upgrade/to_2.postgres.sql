-- From version 1 to 2: traffic of no article, a number for every state of the data, totals in pages.
DROP TABLE IF EXISTS article_days;
DROP TABLE IF EXISTS article_months;
DROP TABLE IF EXISTS article_years;
DROP TABLE IF EXISTS country_quarters;
DROP TABLE IF EXISTS dimension_totals;
CREATE TABLE unmatched_traffic (
    day integer NOT NULL,
    url varchar(1024) NOT NULL,
    country_id integer NOT NULL REFERENCES countries (id),
    pageviews integer NOT NULL,
    sessions integer NOT NULL,
    engagement_seconds integer NOT NULL,
    PRIMARY KEY (day, url, country_id)
);
ALTER TABLE schema_version ADD COLUMN data_version integer NOT NULL DEFAULT 0;
ALTER TABLE schema_version ALTER COLUMN data_version DROP DEFAULT;
ALTER TABLE schema_version ADD COLUMN totals_version integer;
UPDATE schema_version SET version = 2;
CREATE TABLE totals (
    kind integer NOT NULL,
    grain integer NOT NULL,
    day integer NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (kind, grain, day)
);
ALTER TABLE totals ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE OR REPLACE FUNCTION raise_data_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE schema_version SET data_version = data_version + 1; RETURN NULL; END $$;
CREATE TRIGGER blogs_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON blogs
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER authors_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON authors
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER teams_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON teams
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER products_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON products
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER languages_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON languages
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER human_languages_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON human_languages
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER countries_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON countries
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER articles_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON articles
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
CREATE TRIGGER traffic_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON traffic
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();

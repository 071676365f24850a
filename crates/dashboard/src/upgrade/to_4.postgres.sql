-- From version 3 to 4: days that were imported, so that a missing day is not one without traffic.
CREATE TABLE imported_days (
    blog_id integer NOT NULL REFERENCES blogs (id),
    day integer NOT NULL,
    state varchar(16) NOT NULL,
    PRIMARY KEY (blog_id, day)
);
INSERT INTO imported_days (blog_id, day, state)
    SELECT DISTINCT articles.blog_id, traffic.day, 'complete'
    FROM traffic JOIN articles ON articles.id = traffic.article_id;
CREATE TRIGGER imported_days_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON imported_days
    FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version();
UPDATE schema_version SET version = 4;

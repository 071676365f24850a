-- One article with its author, and its pageviews in one country.
SELECT a.title, a.published, w.name AS author,
       (SELECT sum(t.pageviews) FROM traffic t JOIN countries c ON c.id = t.country_id
        WHERE t.article_id = a.id AND c.code = :country
          AND t.day BETWEEN :first AND :first + {days} - 1) AS pageviews
FROM articles a JOIN authors w ON w.id = a.author_id
WHERE a.id = :id

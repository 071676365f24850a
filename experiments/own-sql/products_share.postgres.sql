-- The same in PostgreSQL's words: a division of integers would give 0.
SELECT p.name, sum(t.pageviews)::float8 / sum(sum(t.pageviews)) OVER ()::float8 AS share
FROM traffic t
JOIN articles a ON a.id = t.article_id
JOIN products p ON p.id = a.product_id
WHERE t.day BETWEEN :first AND :first + {days} - 1
GROUP BY p.name

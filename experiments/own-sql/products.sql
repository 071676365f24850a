-- Pageviews of each product in the period.
SELECT p.name, sum(t.pageviews) AS pageviews, sum(t.sessions) AS sessions
FROM traffic t
JOIN articles a ON a.id = t.article_id
JOIN products p ON p.id = a.product_id
WHERE t.day BETWEEN :first AND :first + {days} - 1
GROUP BY p.name

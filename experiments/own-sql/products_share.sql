-- Each product's share of all pageviews in the period.
SELECT p.name, 1.0 * sum(t.pageviews) / sum(sum(t.pageviews)) OVER () AS share
FROM traffic t
JOIN articles a ON a.id = t.article_id
JOIN products p ON p.id = a.product_id
WHERE t.day BETWEEN :first AND :first + {days} - 1
GROUP BY p.name

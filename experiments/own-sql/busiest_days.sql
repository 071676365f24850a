-- The ten days with most pageviews.
SELECT day, sum(pageviews) AS pageviews
FROM traffic
WHERE day >= :first AND day < CAST(:first AS integer) + CAST(:days AS integer)
GROUP BY day
ORDER BY pageviews DESC, day
LIMIT 10

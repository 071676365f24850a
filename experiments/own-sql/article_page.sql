-- What a page on one article shows: the article, then others of its author.
SELECT title, url, published FROM articles WHERE id = :id;
SELECT id, title FROM articles
WHERE author_id = (SELECT author_id FROM articles WHERE id = :id) AND id <> :id
ORDER BY published DESC, id
LIMIT 5;

-- The index of passages contains a word for the project of each, so that a search does not visit the passages of other projects.
DROP INDEX "passages_tokens";
--> statement-breakpoint
-- Without a list of pending entries, which every search would read from its beginning.
CREATE INDEX "passages_words" ON "passages" USING gin (("tokens_index" || array_to_tsvector(ARRAY['ʬ' || replace("project_id", '-', '')]))) WITH (fastupdate = off);
--> statement-breakpoint
-- The ids of at most so many passages, as JSON. With a limit, the planner prefers to read the table, which is much slower.
CREATE FUNCTION passages_with(query tsquery, most integer) RETURNS text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
	SELECT coalesce(json_agg(id), '[]')::text FROM (SELECT id FROM passages WHERE ("tokens_index" || array_to_tsvector(ARRAY['ʬ' || replace("project_id", '-', '')])) @@ query LIMIT most) AS found
$$;

-- The index of passages contains a word for the project of each, so that a search does not visit the passages of other projects.
DROP TRIGGER passages_index_insert;
--> statement-breakpoint
DROP TRIGGER passages_index_delete;
--> statement-breakpoint
DROP TRIGGER passages_index_update;
--> statement-breakpoint
DROP TABLE passages_index;
--> statement-breakpoint
CREATE VIEW passages_indexed AS SELECT id, tokens || ' ʬ' || replace(project_id, '-', '') AS tokens FROM passages;
--> statement-breakpoint
CREATE VIRTUAL TABLE passages_index USING fts5(tokens, content='passages_indexed', content_rowid='id', tokenize='unicode61 remove_diacritics 0');
--> statement-breakpoint
INSERT INTO passages_index (passages_index) VALUES ('rebuild');
--> statement-breakpoint
CREATE TRIGGER passages_index_insert AFTER INSERT ON passages BEGIN
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens || ' ʬ' || replace(new.project_id, '-', ''));
END;
--> statement-breakpoint
CREATE TRIGGER passages_index_delete AFTER DELETE ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens || ' ʬ' || replace(old.project_id, '-', ''));
END;
--> statement-breakpoint
CREATE TRIGGER passages_index_update AFTER UPDATE OF tokens ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens || ' ʬ' || replace(old.project_id, '-', ''));
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens || ' ʬ' || replace(new.project_id, '-', ''));
END;

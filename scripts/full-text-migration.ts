// The full-text index over passages, which drizzle-kit cannot express: statements that follow the generated ones.

/** `server/db/full-text.ts` asks these indexes. Both fold case, keep accents and part words at the same places. */
export const fullTextMigration = {
  sqlite: [
    `CREATE VIRTUAL TABLE passages_index USING fts5(tokens, content='passages', content_rowid='id', tokenize='unicode61 remove_diacritics 0');`,
    `CREATE TRIGGER passages_index_insert AFTER INSERT ON passages BEGIN
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens);
END;`,
    `CREATE TRIGGER passages_index_delete AFTER DELETE ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
END;`,
    `CREATE TRIGGER passages_index_update AFTER UPDATE OF tokens ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens);
END;`,
  ],
  postgres: [
    `ALTER TABLE "passages" ADD COLUMN "tokens_index" tsvector GENERATED ALWAYS AS (to_tsvector('simple', "tokens")) STORED;`,
    `CREATE INDEX "passages_tokens" ON "passages" USING gin ("tokens_index");`,
  ],
} as const

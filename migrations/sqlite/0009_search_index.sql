CREATE TABLE `search_titles` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`conversation_id` text NOT NULL,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_titles_conversation` ON `search_titles` (`conversation_id`);
--> statement-breakpoint
-- Without content and positions, because the texts are in their own tables. Words contain no white space or ASCII punctuation.
CREATE VIRTUAL TABLE search_words USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
--> statement-breakpoint
CREATE TRIGGER search_titles_delete AFTER DELETE ON search_titles BEGIN
	DELETE FROM search_words WHERE rowid = -old.id;
END;
--> statement-breakpoint
CREATE TRIGGER search_messages_delete AFTER DELETE ON messages BEGIN
	DELETE FROM search_words WHERE rowid BETWEEN old."row" * 1048576 AND old."row" * 1048576 + 1048575;
END;

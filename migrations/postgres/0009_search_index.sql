CREATE TABLE "search_titles" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	CONSTRAINT "search_titles_conversation" UNIQUE("conversation_id")
);
--> statement-breakpoint
CREATE TABLE "search_words" (
	"rowid" bigint PRIMARY KEY NOT NULL,
	"words" "tsvector" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "search_titles" ADD CONSTRAINT "search_titles_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "search_words_words" ON "search_words" USING gin ("words");
--> statement-breakpoint
CREATE FUNCTION search_titles_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM search_words WHERE rowid = -old.id;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER search_titles_delete AFTER DELETE ON search_titles FOR EACH ROW EXECUTE FUNCTION search_titles_delete();
--> statement-breakpoint
CREATE FUNCTION search_messages_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM search_words WHERE rowid BETWEEN old."row" * 1048576 AND old."row" * 1048576 + 1048575;
	RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER search_messages_delete AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION search_messages_delete();

CREATE TABLE "search_pages" (
	"segment_id" bigint NOT NULL,
	"first" bigint NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "search_pages_segment_id_first_pk" PRIMARY KEY("segment_id","first")
);
--> statement-breakpoint
CREATE TABLE "search_removed" (
	"row" bigint PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "search_segments" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"entries" integer NOT NULL,
	"first_row" bigint NOT NULL,
	"last_row" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "search_pages" ADD CONSTRAINT "search_pages_segment_id_search_segments_id_fk" FOREIGN KEY ("segment_id") REFERENCES "public"."search_segments"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "search_segments" ADD CONSTRAINT "search_segments_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "search_segments_user" ON "search_segments" USING btree ("user_id","last_row");
--> statement-breakpoint
-- The lists do not become smaller by compression; long ones are stored in pieces beside the table.
ALTER TABLE "search_pages" ALTER COLUMN "data" SET STORAGE EXTERNAL;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_messages_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM search_words WHERE rowid BETWEEN old."row" * 1048576 AND old."row" * 1048576 + 1048575;
	INSERT INTO search_removed ("row") SELECT old."row" WHERE EXISTS (SELECT 1 FROM search_segments) ON CONFLICT DO NOTHING;
	RETURN NULL;
END $$;

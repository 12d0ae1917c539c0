ALTER TABLE "attachments" ADD COLUMN "search_from" integer;
--> statement-breakpoint
CREATE INDEX "attachments_search" ON "attachments" USING btree ("message_id") WHERE "attachments"."search_from" is not null;
--> statement-breakpoint
-- What is longer than twelve parts was indexed only to there.
UPDATE "attachments" SET "search_from" = 12 WHERE "kind" = 'text' AND (length("content") > 230000 OR "file_id" IN (SELECT "id" FROM "files" WHERE "characters" > 230000));

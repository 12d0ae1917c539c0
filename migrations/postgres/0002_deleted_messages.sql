ALTER TABLE "messages" ADD COLUMN "deleted_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "deleted_with" text;
--> statement-breakpoint
CREATE INDEX "messages_deleted" ON "messages" USING btree ("deleted_at") WHERE "messages"."deleted_at" is not null;
--> statement-breakpoint
CREATE INDEX "messages_deleted_with" ON "messages" USING btree ("deleted_with") WHERE "messages"."deleted_with" is not null;

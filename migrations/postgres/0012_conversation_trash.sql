ALTER TABLE "conversations" ADD COLUMN "deleted_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "temporary" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
CREATE INDEX "conversations_trash" ON "conversations" USING btree ("user_id","deleted_at","id") WHERE "conversations"."deleted_at" is not null;
--> statement-breakpoint
CREATE INDEX "conversations_temporary" ON "conversations" USING btree ("created_at") WHERE "conversations"."temporary";

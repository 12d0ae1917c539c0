ALTER TABLE "conversations" ADD COLUMN "pin_position" integer;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "edited_from" text;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "feedback" json;
--> statement-breakpoint
ALTER TABLE "steps" ADD COLUMN "duration_ms" integer;

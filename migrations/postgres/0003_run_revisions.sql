ALTER TABLE "runs" ADD COLUMN "failed_attempts" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "revision" integer DEFAULT 0 NOT NULL;

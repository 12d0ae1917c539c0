ALTER TABLE "documents" ADD COLUMN "encoding" text;
--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "encoding" text;

ALTER TABLE "attachments" ADD COLUMN "document_id" text;
--> statement-breakpoint
ALTER TABLE "documents" ADD COLUMN "sha256" text;

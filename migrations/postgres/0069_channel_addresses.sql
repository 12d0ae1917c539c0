ALTER TABLE "channels" ADD COLUMN "address_token" text;
--> statement-breakpoint
ALTER TABLE "senders" ADD COLUMN "seen" json;

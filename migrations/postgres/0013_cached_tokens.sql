ALTER TABLE "runs" ADD COLUMN "cached_tokens" integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "cost" json;
--> statement-breakpoint
ALTER TABLE "token_usage" ADD COLUMN "cached_tokens" bigint DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE "token_usage" ADD COLUMN "cache_write_tokens" bigint DEFAULT 0 NOT NULL;

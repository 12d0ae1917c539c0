ALTER TABLE "token_usage" ADD COLUMN "reasoning_tokens" bigint DEFAULT 0 NOT NULL;

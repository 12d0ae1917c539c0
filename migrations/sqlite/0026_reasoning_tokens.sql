ALTER TABLE `token_usage` ADD `reasoning_tokens` integer DEFAULT 0 NOT NULL;

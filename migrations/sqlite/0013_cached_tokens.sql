ALTER TABLE `runs` ADD `cached_tokens` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `runs` ADD `cost` text;
--> statement-breakpoint
ALTER TABLE `token_usage` ADD `cached_tokens` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `token_usage` ADD `cache_write_tokens` integer DEFAULT 0 NOT NULL;

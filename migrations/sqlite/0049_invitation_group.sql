ALTER TABLE `account_links` ADD `group_id` text REFERENCES groups(id) ON DELETE set null;
--> statement-breakpoint
CREATE INDEX `token_usage_day` ON `token_usage` (`day`,`user_id`);

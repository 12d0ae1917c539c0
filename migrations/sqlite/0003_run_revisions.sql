ALTER TABLE `runs` ADD `failed_attempts` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `runs` ADD `revision` integer DEFAULT 0 NOT NULL;

CREATE TABLE `account_links` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`hash` text NOT NULL,
	`role` text NOT NULL,
	`note` text,
	`created_by` text,
	`user_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `account_links_hash` ON `account_links` (`hash`);
--> statement-breakpoint
CREATE INDEX `account_links_created` ON `account_links` (`kind`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `account_links_user` ON `account_links` (`user_id`);
--> statement-breakpoint
CREATE INDEX `account_links_creator` ON `account_links` (`created_by`);

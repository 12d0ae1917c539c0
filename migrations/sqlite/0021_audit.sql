CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`action` text NOT NULL,
	`user_id` text,
	`username` text,
	`address` text,
	`details` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_at` ON `audit_entries` (`at`,`id`);
--> statement-breakpoint
CREATE INDEX `audit_entries_user` ON `audit_entries` (`user_id`,`at`,`id`);
--> statement-breakpoint
CREATE INDEX `audit_entries_action` ON `audit_entries` (`action`,`at`,`id`);

CREATE TABLE `project_approvers` (
	`project_id` text NOT NULL,
	`principal` text NOT NULL,
	`user_id` text,
	`group_id` text,
	PRIMARY KEY(`project_id`, `principal`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_id`) REFERENCES `groups`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `project_approvers_user` ON `project_approvers` (`user_id`);
--> statement-breakpoint
CREATE INDEX `project_approvers_group` ON `project_approvers` (`group_id`);
--> statement-breakpoint
CREATE TABLE `approval_links` (
	`hash` text PRIMARY KEY NOT NULL,
	`run_id` text NOT NULL,
	`approval_id` text NOT NULL,
	`user_id` text NOT NULL,
	`call_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `approval_links_request` ON `approval_links` (`approval_id`,`expires_at`);
--> statement-breakpoint
CREATE INDEX `approval_links_run` ON `approval_links` (`run_id`);
--> statement-breakpoint
CREATE TABLE `request_notices` (
	`request_id` text NOT NULL,
	`through` text NOT NULL,
	`run_id` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`request_id`, `through`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `request_notices_run` ON `request_notices` (`run_id`);

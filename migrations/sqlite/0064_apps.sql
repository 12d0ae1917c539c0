CREATE TABLE `apps` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`session_id` text,
	`api_key_id` text,
	`project_id` text NOT NULL,
	`path` text NOT NULL,
	`checkpoint_id` text,
	`kind` text NOT NULL,
	`apps_origin` text,
	`page_origin` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`session_id`) REFERENCES `sessions`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`api_key_id`) REFERENCES `api_keys`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `apps_token` ON `apps` (`token_hash`);
--> statement-breakpoint
CREATE INDEX `apps_user` ON `apps` (`user_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `apps_session` ON `apps` (`session_id`);
--> statement-breakpoint
CREATE INDEX `apps_key` ON `apps` (`api_key_id`);
--> statement-breakpoint
CREATE INDEX `apps_project` ON `apps` (`project_id`);
--> statement-breakpoint
CREATE TABLE `app_networks` (
	`user_id` text NOT NULL,
	`project_id` text NOT NULL,
	`path` text NOT NULL,
	`outside` text NOT NULL,
	`allowed_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `project_id`, `path`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `app_networks_project` ON `app_networks` (`project_id`);

CREATE TABLE `schedules` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`project_id` text,
	`conversation_id` text,
	`name` text NOT NULL,
	`settings` text NOT NULL,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`next_at` integer,
	`since` integer NOT NULL,
	`failures` integer NOT NULL,
	`watched_at` integer,
	`watch_failures` integer NOT NULL,
	`hook_hash` text,
	`sealed_hook_secret` text,
	`created_by_run` text,
	`tools` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `schedules_user` ON `schedules` (`user_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `schedules_due` ON `schedules` (`next_at`) WHERE "schedules"."next_at" is not null;
--> statement-breakpoint
CREATE INDEX `schedules_project` ON `schedules` (`project_id`);
--> statement-breakpoint
CREATE INDEX `schedules_conversation` ON `schedules` (`conversation_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `schedules_hook` ON `schedules` (`hook_hash`) WHERE "schedules"."hook_hash" is not null;
--> statement-breakpoint
CREATE TABLE `occurrences` (
	`id` text PRIMARY KEY NOT NULL,
	`schedule_id` text NOT NULL,
	`due_at` integer NOT NULL,
	`trigger_kind` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`detail` text,
	`count` integer NOT NULL,
	`request_key` text,
	`input` text,
	`conversation_id` text,
	`run_id` text,
	`message_id` text,
	`checks` text NOT NULL,
	`cost` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	`untold` text,
	FOREIGN KEY (`schedule_id`) REFERENCES `schedules`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `occurrences_due` ON `occurrences` (`schedule_id`,`due_at`) WHERE "occurrences"."trigger_kind" = 'clock';
--> statement-breakpoint
CREATE UNIQUE INDEX `occurrences_request` ON `occurrences` (`schedule_id`,`request_key`) WHERE "occurrences"."request_key" is not null;
--> statement-breakpoint
CREATE INDEX `occurrences_list` ON `occurrences` (`schedule_id`,`due_at`,`id`);
--> statement-breakpoint
CREATE INDEX `occurrences_conversation` ON `occurrences` (`conversation_id`);
--> statement-breakpoint
CREATE INDEX `occurrences_open` ON `occurrences` (`created_at`) WHERE "occurrences"."state" in ('running', 'waiting') or "occurrences"."untold" is not null;
--> statement-breakpoint
CREATE TABLE `schedule_watches` (
	`schedule_id` text PRIMARY KEY NOT NULL,
	`content` text NOT NULL,
	FOREIGN KEY (`schedule_id`) REFERENCES `schedules`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `conversations` ADD `schedule_id` text;
--> statement-breakpoint
ALTER TABLE `messages` ADD `quiet` integer DEFAULT false NOT NULL;

CREATE TABLE `app_calls` (
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	`app_ref` text NOT NULL,
	`user_id` text NOT NULL,
	`server` text NOT NULL,
	`tool` text NOT NULL,
	`name` text NOT NULL,
	`arguments` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`owner` text,
	`grant_id` text,
	`content` text,
	`artifact` text,
	`skipped` integer DEFAULT false NOT NULL,
	`ended_at` integer,
	PRIMARY KEY(`run_id`, `id_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `app_calls_open` ON `app_calls` (`created_at`) WHERE "app_calls"."ended_at" is null;
--> statement-breakpoint
CREATE TABLE `app_contexts` (
	`run_id` text NOT NULL,
	`app_ref` text NOT NULL,
	`server` text NOT NULL,
	`tool` text NOT NULL,
	`text` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `app_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `steps` ADD `origin` text;
--> statement-breakpoint
ALTER TABLE `approvals` ADD `by_app` integer DEFAULT false NOT NULL;
--> statement-breakpoint
CREATE INDEX `approvals_by_app` ON `approvals` (`created_at`) WHERE "approvals"."by_app" and "approvals"."status" = 'pending';

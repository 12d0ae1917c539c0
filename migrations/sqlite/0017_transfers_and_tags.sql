CREATE TABLE `transfers` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`name` text,
	`format` text,
	`done` integer NOT NULL,
	`total` integer NOT NULL,
	`size` integer,
	`report` text,
	`failure` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `transfers_user` ON `transfers` (`user_id`,`kind`,`created_at`);
--> statement-breakpoint
CREATE INDEX `transfers_unfinished` ON `transfers` (`created_at`) WHERE "transfers"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX `transfers_ended` ON `transfers` (`ended_at`) WHERE "transfers"."ended_at" is not null;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `tags` text DEFAULT '[]' NOT NULL;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `origin` text;
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_origin` ON `conversations` (`user_id`,`origin`) WHERE "conversations"."origin" is not null;

CREATE TABLE `share_files` (
	`share_id` text NOT NULL,
	`revision` text NOT NULL,
	`position` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`mime` text,
	`content` text NOT NULL,
	PRIMARY KEY(`share_id`, `revision`, `position`),
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `share_messages` (
	`share_id` text NOT NULL,
	`revision` text NOT NULL,
	`position` integer NOT NULL,
	`content` text NOT NULL,
	PRIMARY KEY(`share_id`, `revision`, `position`),
	FOREIGN KEY (`share_id`) REFERENCES `shares`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `shares` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`sealed_token` text NOT NULL,
	`password_hash` text,
	`include` text NOT NULL,
	`title` text NOT NULL,
	`revision` text,
	`views` integer NOT NULL,
	`created_at` integer NOT NULL,
	`renewed_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_token` ON `shares` (`token_hash`);
--> statement-breakpoint
CREATE UNIQUE INDEX `shares_conversation` ON `shares` (`conversation_id`);
--> statement-breakpoint
CREATE INDEX `shares_user` ON `shares` (`user_id`,`created_at`,`id`);

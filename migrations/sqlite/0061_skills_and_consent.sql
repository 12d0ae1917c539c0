CREATE TABLE `consents` (
	`user_id` text NOT NULL,
	`what` text NOT NULL,
	`sha256` text NOT NULL,
	`decision` text NOT NULL,
	`project_id` text NOT NULL,
	`path` text NOT NULL,
	`files` text,
	`decided_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `what`, `sha256`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `consents_path` ON `consents` (`user_id`,`project_id`,`path`,`decided_at`);
--> statement-breakpoint
CREATE TABLE `user_skills` (
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`sha256` text NOT NULL,
	`size` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `name`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `user_skill_files` (
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`path` text NOT NULL,
	`sha256` text NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`user_id`, `name`, `path`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);

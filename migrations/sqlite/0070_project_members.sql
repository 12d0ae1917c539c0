CREATE TABLE `project_members` (
	`project_id` text NOT NULL,
	`principal` text NOT NULL,
	`user_id` text,
	`group_id` text,
	`role` text NOT NULL,
	PRIMARY KEY(`project_id`, `principal`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_id`) REFERENCES `groups`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `project_members_principal` ON `project_members` (`principal`);
--> statement-breakpoint
CREATE INDEX `project_members_user` ON `project_members` (`user_id`);
--> statement-breakpoint
CREATE INDEX `project_members_group` ON `project_members` (`group_id`);
--> statement-breakpoint
ALTER TABLE `projects` ADD `creator_role` text DEFAULT 'own';
--> statement-breakpoint
ALTER TABLE `checkpoints` ADD `actor_id` text;

CREATE TABLE `prompt_parts` (
	`conversation_id` text NOT NULL,
	`hash` text NOT NULL,
	`characters` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`conversation_id`, `hash`),
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `run_records` (
	`run_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`number` integer NOT NULL,
	`created_at` integer NOT NULL,
	`record` text NOT NULL,
	PRIMARY KEY(`run_id`, `attempt`, `number`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `run_records_created` ON `run_records` (`created_at`);

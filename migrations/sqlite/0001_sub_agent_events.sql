CREATE TABLE `sub_agent_events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` text NOT NULL,
	`call_id` text NOT NULL,
	`position` integer NOT NULL,
	`event` text NOT NULL,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sub_agent_events_call` ON `sub_agent_events` (`run_id`,`call_id`,`id`);
--> statement-breakpoint
-- Missing vectors are computed again from their passages.
DROP TABLE `passage_vectors`;
--> statement-breakpoint
CREATE TABLE `passage_vectors` (
	`passage_id` integer PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`model` text NOT NULL,
	`vector` blob NOT NULL,
	FOREIGN KEY (`passage_id`) REFERENCES `passages`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `passage_vectors_project` ON `passage_vectors` (`project_id`,`model`,`passage_id`);

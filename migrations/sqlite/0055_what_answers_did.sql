CREATE TABLE `nested_calls` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`run_id` text NOT NULL,
	`call_id` text NOT NULL,
	`position` integer NOT NULL,
	`id_ref` text NOT NULL,
	`name` text NOT NULL,
	`arguments` text NOT NULL,
	`outcome` text,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nested_calls_call` ON `nested_calls` (`run_id`,`call_id`,`position`,`id_ref`);
--> statement-breakpoint
ALTER TABLE `messages` ADD `receipt` text;
--> statement-breakpoint
ALTER TABLE `messages` ADD `plan` text;
--> statement-breakpoint
ALTER TABLE `messages` ADD `citations` text;
--> statement-breakpoint
CREATE INDEX `checkpoints_message` ON `checkpoints` (`message_id`) WHERE "checkpoints"."message_id" is not null;

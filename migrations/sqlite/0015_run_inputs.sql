CREATE TABLE `run_inputs` (
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	`call_id` text NOT NULL,
	`round` integer NOT NULL,
	`position` integer NOT NULL,
	`question` text NOT NULL,
	`key` text,
	`request_state` text,
	`answer` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `id_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE TABLE `search_pages` (
	`segment_id` integer NOT NULL,
	`first` integer NOT NULL,
	`data` blob NOT NULL,
	PRIMARY KEY(`segment_id`, `first`),
	FOREIGN KEY (`segment_id`) REFERENCES `search_segments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `search_removed` (
	`row` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `search_segments` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` text NOT NULL,
	`entries` integer NOT NULL,
	`first_row` integer NOT NULL,
	`last_row` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `search_segments_user` ON `search_segments` (`user_id`,`last_row`);

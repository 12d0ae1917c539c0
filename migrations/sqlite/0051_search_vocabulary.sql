CREATE TABLE `search_vocabulary` (
	`segment_id` integer NOT NULL,
	`first` blob NOT NULL,
	`data` blob NOT NULL,
	PRIMARY KEY(`segment_id`, `first`),
	FOREIGN KEY (`segment_id`) REFERENCES `search_segments`(`id`) ON UPDATE no action ON DELETE cascade
);

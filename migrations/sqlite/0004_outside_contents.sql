CREATE TABLE `outside_contents` (
	`project_id` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`project_id`, `hash`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);

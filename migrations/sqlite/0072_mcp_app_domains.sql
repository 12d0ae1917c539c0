CREATE TABLE `mcp_app_domains` (
	`user_id` text NOT NULL,
	`server` text NOT NULL,
	`hash` text NOT NULL,
	`domains` text NOT NULL,
	`allowed_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `server`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);

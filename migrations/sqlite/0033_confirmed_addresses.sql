CREATE TABLE `confirmed_addresses` (
	`user_id` text NOT NULL,
	`address` text NOT NULL,
	`confirmed_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `address`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);

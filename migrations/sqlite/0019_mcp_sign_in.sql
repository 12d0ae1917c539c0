CREATE TABLE `mcp_clients` (
	`issuer` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`issuer`, `redirect_uri`)
);
--> statement-breakpoint
CREATE TABLE `mcp_grants` (
	`user_id` text NOT NULL,
	`server` text NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`user_id`, `server`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);

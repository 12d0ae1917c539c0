CREATE TABLE `mcp_servers` (
	`name` text PRIMARY KEY NOT NULL,
	`sealed_settings` text,
	`is_enabled` integer NOT NULL,
	`created_at` integer NOT NULL
);

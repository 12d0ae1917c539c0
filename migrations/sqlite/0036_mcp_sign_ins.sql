CREATE TABLE `mcp_sign_ins` (
	`state_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`sealed` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `mcp_sign_ins_user` ON `mcp_sign_ins` (`user_id`,`expires_at`);
--> statement-breakpoint
CREATE INDEX `mcp_sign_ins_expiry` ON `mcp_sign_ins` (`expires_at`);

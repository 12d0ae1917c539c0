CREATE TABLE `grants` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`conversation_id` text,
	`project_id` text,
	`run_id` text,
	`tool` text NOT NULL,
	`tool_print` text,
	`arguments_match` text,
	`even_tainted` integer NOT NULL,
	`expires_at` integer,
	`max_uses` integer,
	`uses` integer NOT NULL,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	`created_from` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `grants_user` ON `grants` (`user_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `grants_tool` ON `grants` (`user_id`,`tool`);
--> statement-breakpoint
CREATE INDEX `grants_conversation` ON `grants` (`conversation_id`);
--> statement-breakpoint
CREATE INDEX `grants_project` ON `grants` (`project_id`);
--> statement-breakpoint
CREATE INDEX `grants_run` ON `grants` (`run_id`);
--> statement-breakpoint
CREATE TABLE `grant_uses` (
	`grant_id` text NOT NULL,
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	PRIMARY KEY(`grant_id`, `run_id`, `id_ref`),
	FOREIGN KEY (`grant_id`) REFERENCES `grants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `grant_uses_run` ON `grant_uses` (`run_id`);
--> statement-breakpoint
ALTER TABLE `steps` ADD `grant_id` text;

--> statement-breakpoint
INSERT INTO `grants` (`id`, `user_id`, `conversation_id`, `tool`, `tool_print`, `even_tainted`, `uses`, `created_at`)
SELECT lower(hex(randomblob(16))), `conversations`.`user_id`, `conversations`.`id`,
	CASE WHEN instr("remembered"."value", '@') > 0 THEN substr("remembered"."value", 1, instr("remembered"."value", '@') - 1) ELSE "remembered"."value" END,
	CASE WHEN instr("remembered"."value", '@') > 0 THEN substr("remembered"."value", instr("remembered"."value", '@') + 1) END,
	0, 0, `conversations`.`updated_at`
FROM `conversations`, json_each(`conversations`.`approval_grants`) AS "remembered";
--> statement-breakpoint
INSERT INTO `grants` (`id`, `user_id`, `conversation_id`, `run_id`, `tool`, `tool_print`, `even_tainted`, `uses`, `created_at`)
SELECT lower(hex(randomblob(16))), `runs`.`user_id`, `runs`.`conversation_id`, `runs`.`id`,
	CASE WHEN instr("remembered"."value", '@') > 0 THEN substr("remembered"."value", 1, instr("remembered"."value", '@') - 1) ELSE "remembered"."value" END,
	CASE WHEN instr("remembered"."value", '@') > 0 THEN substr("remembered"."value", instr("remembered"."value", '@') + 1) END,
	0, 0, `runs`.`created_at`
FROM `runs`, json_each(`runs`.`state`, '$.grants') AS "remembered"
WHERE `runs`.`ended_at` IS NULL;

CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`prefix` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);
--> statement-breakpoint
CREATE INDEX `api_keys_user` ON `api_keys` (`user_id`);
--> statement-breakpoint
CREATE TABLE `approvals` (
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`arguments` text NOT NULL,
	`risk_level` text NOT NULL,
	`preview` text,
	`status` text NOT NULL,
	`reason` text,
	`decided_arguments` text,
	`created_at` integer NOT NULL,
	`decided_at` integer,
	PRIMARY KEY(`run_id`, `id_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `attachments` (
	`message_id` text NOT NULL,
	`position` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`extension` text,
	`mime` text,
	`content` text NOT NULL,
	PRIMARY KEY(`message_id`, `position`),
	FOREIGN KEY (`message_id`) REFERENCES `messages`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `channels` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`type` text NOT NULL,
	`name` text NOT NULL,
	`sealed_settings` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_user_name` ON `channels` (`user_id`,`name`);
--> statement-breakpoint
CREATE TABLE `checkpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`message_id` text,
	`run_id` text,
	`tool` text NOT NULL,
	`files` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `checkpoints_project` ON `checkpoints` (`project_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE TABLE `conversations` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`project_id` text,
	`title` text NOT NULL,
	`title_key` text NOT NULL,
	`model` text,
	`system_prompt` text,
	`temperature` real,
	`max_tokens` integer,
	`thinking_enabled` integer NOT NULL,
	`approval` text,
	`disabled_mcp_servers` text NOT NULL,
	`approval_grants` text NOT NULL,
	`tainted` integer NOT NULL,
	`pinned` integer NOT NULL,
	`archived` integer NOT NULL,
	`leaf_id` text,
	`message_count` integer NOT NULL,
	`titled` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE INDEX `conversations_list` ON `conversations` (`user_id`,`archived`,`updated_at`,`id`);
--> statement-breakpoint
CREATE INDEX `conversations_list_in_project` ON `conversations` (`user_id`,`project_id`,`archived`,`updated_at`,`id`);
--> statement-breakpoint
CREATE INDEX `conversations_project` ON `conversations` (`project_id`);
--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`channel_id` text NOT NULL,
	`conversation_id` text,
	`content` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_attempt_at` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`status`,`next_attempt_at`);
--> statement-breakpoint
CREATE INDEX `deliveries_channel` ON `deliveries` (`channel_id`);
--> statement-breakpoint
CREATE TABLE `documents` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`mime` text NOT NULL,
	`size` integer NOT NULL,
	`status` text NOT NULL,
	`error` text,
	`passages` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `documents_project` ON `documents` (`project_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE TABLE `memories` (
	`user_id` text PRIMARY KEY NOT NULL,
	`content` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `messages` (
	`row` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`conversation_id` text NOT NULL,
	`parent_id` text,
	`role` text NOT NULL,
	`text` text NOT NULL,
	`token_count` integer NOT NULL,
	`model` text,
	`run_id` text,
	`status` text NOT NULL,
	`error` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `messages_id` ON `messages` (`id`);
--> statement-breakpoint
CREATE INDEX `messages_conversation` ON `messages` (`conversation_id`,`parent_id`,`row`);
--> statement-breakpoint
CREATE INDEX `messages_parent` ON `messages` (`parent_id`);
--> statement-breakpoint
CREATE TABLE `models` (
	`id` text PRIMARY KEY NOT NULL,
	`settings` text NOT NULL,
	`sealed_api_key` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `passage_vectors` (
	`passage_id` integer PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`model` text NOT NULL,
	`vector` text NOT NULL,
	FOREIGN KEY (`passage_id`) REFERENCES `passages`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `passage_vectors_project` ON `passage_vectors` (`project_id`,`model`,`passage_id`);
--> statement-breakpoint
CREATE TABLE `passages` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`document_id` text NOT NULL,
	`project_id` text NOT NULL,
	`position` integer NOT NULL,
	`heading` text,
	`page` integer,
	`text` text NOT NULL,
	`tokens` text NOT NULL,
	FOREIGN KEY (`document_id`) REFERENCES `documents`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passages_document` ON `passages` (`document_id`,`position`);
--> statement-breakpoint
CREATE INDEX `passages_project` ON `passages` (`project_id`);
--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_user_name` ON `projects` (`user_id`,`name`);
--> statement-breakpoint
CREATE INDEX `projects_user_updated` ON `projects` (`user_id`,`updated_at`,`id`);
--> statement-breakpoint
CREATE TABLE `revoked_tokens` (
	`jti` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `revoked_tokens_expires` ON `revoked_tokens` (`expires_at`);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` text PRIMARY KEY NOT NULL,
	`conversation_id` text NOT NULL,
	`user_id` text NOT NULL,
	`project_id` text,
	`message_id` text NOT NULL,
	`user_message_id` text,
	`parent_run_id` text,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`model` text NOT NULL,
	`options` text NOT NULL,
	`client_id` text,
	`attempt` integer NOT NULL,
	`round` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`last_event` integer NOT NULL,
	`finish_reason` text,
	`error` text,
	`state` text,
	`owner` text,
	`heartbeat_at` integer,
	`stop_requested` integer NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_one_active` ON `runs` (`conversation_id`) WHERE "runs"."kind" = 'chat' and "runs"."ended_at" is null;
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_client_id` ON `runs` (`conversation_id`,`client_id`);
--> statement-breakpoint
CREATE INDEX `runs_unfinished` ON `runs` (`created_at`) WHERE "runs"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX `runs_user_unfinished` ON `runs` (`user_id`) WHERE "runs"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX `runs_conversation` ON `runs` (`conversation_id`,`created_at`);
--> statement-breakpoint
CREATE INDEX `runs_parent` ON `runs` (`parent_run_id`);
--> statement-breakpoint
CREATE TABLE `settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `steps` (
	`message_id` text NOT NULL,
	`position` integer NOT NULL,
	`type` text NOT NULL,
	`content` text NOT NULL,
	`id_ref` text,
	`name` text,
	`skipped` integer NOT NULL,
	`artifact` text,
	`closed` integer NOT NULL,
	`first_event` integer,
	`cuts` text,
	`started_at` integer,
	PRIMARY KEY(`message_id`, `position`),
	FOREIGN KEY (`message_id`) REFERENCES `messages`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `summaries` (
	`conversation_id` text NOT NULL,
	`until_message_id` text NOT NULL,
	`text` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`conversation_id`, `until_message_id`),
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `token_usage` (
	`user_id` text NOT NULL,
	`day` text NOT NULL,
	`hour` integer NOT NULL,
	`model` text NOT NULL,
	`currency` text DEFAULT '' NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`completion_tokens` integer NOT NULL,
	`cost` real NOT NULL,
	PRIMARY KEY(`user_id`, `day`, `hour`, `model`, `currency`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `tool_results` (
	`handle` text PRIMARY KEY NOT NULL,
	`conversation_id` text NOT NULL,
	`run_id` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `tool_results_conversation` ON `tool_results` (`conversation_id`);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`username` text NOT NULL,
	`username_key` text NOT NULL,
	`password_hash` text,
	`email` text,
	`email_key` text,
	`avatar` text,
	`role` text NOT NULL,
	`is_active` integer NOT NULL,
	`token_version` integer NOT NULL,
	`kept_token` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_username_key` ON `users` (`username_key`);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key` ON `users` (`email_key`);
--> statement-breakpoint
CREATE VIRTUAL TABLE passages_index USING fts5(tokens, content='passages', content_rowid='id', tokenize='unicode61 remove_diacritics 0');
--> statement-breakpoint
CREATE TRIGGER passages_index_insert AFTER INSERT ON passages BEGIN
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens);
END;
--> statement-breakpoint
CREATE TRIGGER passages_index_delete AFTER DELETE ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
END;
--> statement-breakpoint
CREATE TRIGGER passages_index_update AFTER UPDATE OF tokens ON passages BEGIN
	INSERT INTO passages_index (passages_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
	INSERT INTO passages_index (rowid, tokens) VALUES (new.id, new.tokens);
END;

CREATE TABLE `senders` (
	`id` text PRIMARY KEY NOT NULL,
	`channel_id` text NOT NULL,
	`user_id` text,
	`external_id` text NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`code_hash` text,
	`code_expires_at` integer,
	`told_at` integer,
	`requested_at` integer NOT NULL,
	`allowed_at` integer,
	`last_at` integer NOT NULL,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `senders_external` ON `senders` (`channel_id`,`external_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `senders_code` ON `senders` (`code_hash`) WHERE "senders"."code_hash" is not null;
--> statement-breakpoint
CREATE INDEX `senders_list` ON `senders` (`channel_id`,`requested_at`,`id`);
--> statement-breakpoint
CREATE INDEX `senders_user` ON `senders` (`user_id`);
--> statement-breakpoint
CREATE TABLE `chats` (
	`id` text PRIMARY KEY NOT NULL,
	`channel_id` text NOT NULL,
	`user_id` text NOT NULL,
	`external_id` text NOT NULL,
	`thread_id` text NOT NULL,
	`name` text NOT NULL,
	`is_private` integer NOT NULL,
	`conversation_id` text,
	`choice` text,
	`is_full_told` integer NOT NULL,
	`progress_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`conversation_id`) REFERENCES `conversations`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `chats_external` ON `chats` (`channel_id`,`external_id`,`thread_id`,`user_id`);
--> statement-breakpoint
CREATE INDEX `chats_conversation` ON `chats` (`conversation_id`);
--> statement-breakpoint
CREATE INDEX `chats_user` ON `chats` (`user_id`);
--> statement-breakpoint
CREATE TABLE `incoming_messages` (
	`position` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`channel_id` text NOT NULL,
	`external_id` text NOT NULL,
	`chat_id` text NOT NULL,
	`sender_id` text,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`content` text,
	`conversation_id` text,
	`turn_id` text,
	`run_id` text,
	`started_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`channel_id`) REFERENCES `channels`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`sender_id`) REFERENCES `senders`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `incoming_messages_external` ON `incoming_messages` (`channel_id`,`external_id`);
--> statement-breakpoint
CREATE INDEX `incoming_messages_chat` ON `incoming_messages` (`chat_id`,`position`);
--> statement-breakpoint
CREATE INDEX `incoming_messages_open` ON `incoming_messages` (`chat_id`) WHERE "incoming_messages"."state" in ('waiting', 'starting', 'running');
--> statement-breakpoint
CREATE INDEX `incoming_messages_age` ON `incoming_messages` (`created_at`);
--> statement-breakpoint
CREATE INDEX `incoming_messages_sender` ON `incoming_messages` (`sender_id`,`started_at`);
--> statement-breakpoint
CREATE TABLE `outgoing_parts` (
	`position` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`chat_id` text NOT NULL,
	`reference` text,
	`external_id` text,
	`leased_until` integer,
	`content` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_attempt_at` integer,
	`last_error` text,
	`last_failure` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outgoing_parts_id` ON `outgoing_parts` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `outgoing_parts_reference` ON `outgoing_parts` (`chat_id`,`reference`) WHERE "outgoing_parts"."reference" is not null;
--> statement-breakpoint
CREATE INDEX `outgoing_parts_chat` ON `outgoing_parts` (`chat_id`,`position`);
--> statement-breakpoint
CREATE INDEX `outgoing_parts_due` ON `outgoing_parts` (`next_attempt_at`) WHERE "outgoing_parts"."status" = 'pending';
--> statement-breakpoint
CREATE INDEX `outgoing_parts_age` ON `outgoing_parts` (`created_at`);
--> statement-breakpoint
ALTER TABLE `channels` ADD `receive` text;
--> statement-breakpoint
ALTER TABLE `channels` ADD `state` text;
--> statement-breakpoint
ALTER TABLE `channels` ADD `fault` text;
--> statement-breakpoint
ALTER TABLE `channels` ADD `place` text;
--> statement-breakpoint
ALTER TABLE `channels` ADD `token_hash` text;
--> statement-breakpoint
ALTER TABLE `channels` ADD `bot_hash` text;
--> statement-breakpoint
CREATE UNIQUE INDEX `channels_bot` ON `channels` (`bot_hash`) WHERE "channels"."bot_hash" is not null;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `channel` text;

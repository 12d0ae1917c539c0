CREATE TABLE `files` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`mime` text NOT NULL,
	`size` integer NOT NULL,
	`sha256` text NOT NULL,
	`thumbnail_sha256` text,
	`width` integer,
	`height` integer,
	`pages` integer,
	`failure` text,
	`created_at` integer NOT NULL,
	`characters` integer,
	`text` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `files_user` ON `files` (`user_id`,`size`);
--> statement-breakpoint
CREATE INDEX `files_created` ON `files` (`created_at`);
--> statement-breakpoint
CREATE INDEX `files_blob` ON `files` (`sha256`);
--> statement-breakpoint
CREATE INDEX `files_thumbnail` ON `files` (`thumbnail_sha256`) WHERE "files"."thumbnail_sha256" is not null;
--> statement-breakpoint
ALTER TABLE `attachments` ADD `file_id` text REFERENCES files(id);
--> statement-breakpoint
CREATE INDEX `attachments_file` ON `attachments` (`file_id`);
--> statement-breakpoint
CREATE INDEX `attachments_inline` ON `attachments` (`message_id`) WHERE "attachments"."file_id" is null;
--> statement-breakpoint
ALTER TABLE `share_files` ADD `sha256` text;
--> statement-breakpoint
ALTER TABLE `share_files` ADD `size` integer;
--> statement-breakpoint
CREATE INDEX `share_files_blob` ON `share_files` (`sha256`) WHERE "share_files"."sha256" is not null;

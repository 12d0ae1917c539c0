ALTER TABLE `messages` ADD `deleted_at` integer;
--> statement-breakpoint
ALTER TABLE `messages` ADD `deleted_with` text;
--> statement-breakpoint
CREATE INDEX `messages_deleted` ON `messages` (`deleted_at`) WHERE "messages"."deleted_at" is not null;
--> statement-breakpoint
CREATE INDEX `messages_deleted_with` ON `messages` (`deleted_with`) WHERE "messages"."deleted_with" is not null;

ALTER TABLE `conversations` ADD `deleted_at` integer;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `temporary` integer DEFAULT false NOT NULL;
--> statement-breakpoint
CREATE INDEX `conversations_trash` ON `conversations` (`user_id`,`deleted_at`,`id`) WHERE "conversations"."deleted_at" is not null;
--> statement-breakpoint
CREATE INDEX `conversations_temporary` ON `conversations` (`created_at`) WHERE "conversations"."temporary";

ALTER TABLE `conversations` ADD `pin_position` integer;
--> statement-breakpoint
ALTER TABLE `messages` ADD `edited_from` text;
--> statement-breakpoint
ALTER TABLE `messages` ADD `feedback` text;
--> statement-breakpoint
ALTER TABLE `steps` ADD `duration_ms` integer;

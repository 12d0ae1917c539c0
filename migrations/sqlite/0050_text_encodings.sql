ALTER TABLE `documents` ADD `encoding` text;
--> statement-breakpoint
ALTER TABLE `files` ADD `encoding` text;

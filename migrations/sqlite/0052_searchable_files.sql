ALTER TABLE `documents` ADD `path` text;
--> statement-breakpoint
ALTER TABLE `documents` ADD `version` text;

ALTER TABLE `projects` ADD `icon` text;
--> statement-breakpoint
CREATE INDEX `projects_icon` ON `projects` (`icon`);

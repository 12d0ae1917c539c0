ALTER TABLE `projects` ADD `scratch` integer DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE `conversations` ADD `scratch_project_id` text REFERENCES projects(id) ON DELETE set null;
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_scratch_project` ON `conversations` (`scratch_project_id`);

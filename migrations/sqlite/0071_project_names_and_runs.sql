DROP INDEX `projects_user_name`;
--> statement-breakpoint
CREATE INDEX `projects_user_name` ON `projects` (`user_id`,`name`);
--> statement-breakpoint
CREATE INDEX `runs_project` ON `runs` (`project_id`,`user_id`) WHERE "runs"."project_id" is not null;

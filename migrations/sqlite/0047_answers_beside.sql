DROP INDEX `runs_one_active`;
--> statement-breakpoint
ALTER TABLE `runs` ADD `beside` integer DEFAULT false NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_one_active` ON `runs` (`conversation_id`,`beside`) WHERE "runs"."kind" = 'chat' and "runs"."ended_at" is null;

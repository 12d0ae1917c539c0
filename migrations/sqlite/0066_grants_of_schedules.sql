ALTER TABLE `grants` ADD `schedule_id` text REFERENCES schedules(id) ON DELETE cascade;
--> statement-breakpoint
CREATE INDEX `grants_schedule` ON `grants` (`schedule_id`);

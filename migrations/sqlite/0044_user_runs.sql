CREATE INDEX `runs_user` ON `runs` (`user_id`,`created_at`,`id`);

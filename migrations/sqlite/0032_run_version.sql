ALTER TABLE `runs` ADD `version` integer DEFAULT 0 NOT NULL;

ALTER TABLE `runs` ADD `stop_cause` text;

ALTER TABLE `runs` ADD `reached_limit` text;

ALTER TABLE `runs` ADD `timeline` text;

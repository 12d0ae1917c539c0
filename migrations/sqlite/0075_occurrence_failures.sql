ALTER TABLE `occurrences` ADD `failure` text;

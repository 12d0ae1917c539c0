ALTER TABLE `messages` ADD `origin` text;

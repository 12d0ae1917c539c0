ALTER TABLE `steps` ADD `carry` text;

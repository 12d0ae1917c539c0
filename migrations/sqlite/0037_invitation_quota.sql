ALTER TABLE `account_links` ADD `quota` text;

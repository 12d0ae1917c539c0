ALTER TABLE `projects` ADD `history_size` integer;

ALTER TABLE `attachments` ADD `size` integer;

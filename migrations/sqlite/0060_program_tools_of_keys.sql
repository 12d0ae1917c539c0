ALTER TABLE `api_keys` ADD `program_tools` text;

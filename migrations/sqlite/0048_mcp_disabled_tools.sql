ALTER TABLE `mcp_servers` ADD `disabled_tools` text;

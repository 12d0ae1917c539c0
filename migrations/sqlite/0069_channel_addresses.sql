ALTER TABLE `channels` ADD `address_token` text;
--> statement-breakpoint
ALTER TABLE `senders` ADD `seen` text;

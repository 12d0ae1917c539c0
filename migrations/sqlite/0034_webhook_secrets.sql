ALTER TABLE `webhooks` ADD `sealed_earlier_secret` text;
--> statement-breakpoint
ALTER TABLE `webhooks` ADD `earlier_until` integer;

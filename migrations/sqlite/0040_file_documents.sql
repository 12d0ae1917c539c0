ALTER TABLE `attachments` ADD `document_id` text;
--> statement-breakpoint
ALTER TABLE `documents` ADD `sha256` text;

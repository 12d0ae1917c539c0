CREATE TABLE `checkpoint_files` (
	`checkpoint_id` text NOT NULL,
	`first` integer NOT NULL,
	`files` text NOT NULL,
	PRIMARY KEY(`checkpoint_id`, `first`),
	FOREIGN KEY (`checkpoint_id`) REFERENCES `checkpoints`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
-- Existing checkpoints become one page each: files first, then folders, which are listed only if nothing else changed.
INSERT INTO `checkpoint_files` (`checkpoint_id`, `first`, `files`)
SELECT c.`id`, 0, (
	SELECT json_group_array(json(f.`value`)) FROM (
		SELECT `value` FROM json_each(c.`files`)
		ORDER BY coalesce(json_extract(`value`, '$.before.kind'), json_extract(`value`, '$.after.kind')) = 'directory', `key`
	) f
) FROM `checkpoints` c;
--> statement-breakpoint
ALTER TABLE `checkpoints` ADD `file_count` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `checkpoints` ADD `sample` text DEFAULT '[]' NOT NULL;
--> statement-breakpoint
UPDATE `checkpoints` SET `file_count` = coalesce(
	nullif((
		SELECT count(*) FROM json_each(`checkpoints`.`files`)
		WHERE coalesce(json_extract(`value`, '$.before.kind'), json_extract(`value`, '$.after.kind')) IS NOT 'directory'
	), 0),
	json_array_length(`files`)
);
--> statement-breakpoint
UPDATE `checkpoints` SET `sample` = (
	SELECT json_group_array(json_object('path', json_extract(e.`value`, '$.path'), 'change', json_extract(e.`value`, '$.change')))
	FROM `checkpoint_files` p, json_each(p.`files`) e
	WHERE p.`checkpoint_id` = `checkpoints`.`id` AND e.`key` < min(20, `checkpoints`.`file_count`)
);
--> statement-breakpoint
ALTER TABLE `checkpoints` DROP COLUMN `files`;
--> statement-breakpoint
ALTER TABLE `projects` ADD `size` integer;
--> statement-breakpoint
CREATE INDEX `documents_user` ON `documents` (`user_id`,`size`);

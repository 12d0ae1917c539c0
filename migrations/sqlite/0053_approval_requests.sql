ALTER TABLE `conversations` ADD `approval_deadline` integer;
--> statement-breakpoint
CREATE TABLE `__new_approvals` (
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	`position` integer NOT NULL,
	`name` text NOT NULL,
	`arguments` text NOT NULL,
	`risk_level` text NOT NULL,
	`preview` text,
	`status` text NOT NULL,
	`reason` text,
	`decided_arguments` text,
	`id` text DEFAULT (lower(hex(randomblob(16)))) NOT NULL,
	`user_id` text DEFAULT '' NOT NULL,
	`tainted` integer DEFAULT false NOT NULL,
	`call_hash` text,
	`created_at` integer NOT NULL,
	`deadline` integer,
	`decided_at` integer,
	`decided_by` text,
	`decided_through` text,
	PRIMARY KEY(`run_id`, `id_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_approvals` (`run_id`, `id_ref`, `position`, `name`, `arguments`, `risk_level`, `preview`, `reason`, `decided_arguments`, `created_at`, `status`, `decided_at`, `user_id`)
SELECT `a`.`run_id`, `a`.`id_ref`, `a`.`position`, `a`.`name`, `a`.`arguments`, `a`.`risk_level`, `a`.`preview`, `a`.`reason`, `a`.`decided_arguments`, `a`.`created_at`,
	CASE WHEN `a`.`status` = 'pending' AND `r`.`ended_at` IS NOT NULL THEN 'void' ELSE `a`.`status` END,
	CASE WHEN `a`.`status` = 'pending' THEN `r`.`ended_at` ELSE `a`.`decided_at` END,
	`r`.`user_id`
FROM `approvals` AS `a` JOIN `runs` AS `r` ON `r`.`id` = `a`.`run_id`;
--> statement-breakpoint
DROP TABLE `approvals`;
--> statement-breakpoint
ALTER TABLE `__new_approvals` RENAME TO `approvals`;
--> statement-breakpoint
CREATE TABLE `__new_run_inputs` (
	`run_id` text NOT NULL,
	`id_ref` text NOT NULL,
	`call_id` text NOT NULL,
	`round` integer NOT NULL,
	`position` integer NOT NULL,
	`question` text NOT NULL,
	`key` text,
	`request_state` text,
	`answer` text,
	`status` text DEFAULT 'pending' NOT NULL,
	`closed_at` integer,
	`id` text DEFAULT (lower(hex(randomblob(16)))) NOT NULL,
	`user_id` text DEFAULT '' NOT NULL,
	`tainted` integer DEFAULT false NOT NULL,
	`call_hash` text,
	`created_at` integer NOT NULL,
	`deadline` integer,
	`decided_at` integer,
	`decided_by` text,
	`decided_through` text,
	PRIMARY KEY(`run_id`, `id_ref`),
	FOREIGN KEY (`run_id`) REFERENCES `runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `__new_run_inputs` (`run_id`, `id_ref`, `call_id`, `round`, `position`, `question`, `key`, `request_state`, `created_at`, `answer`, `status`, `decided_at`, `closed_at`, `user_id`)
SELECT `i`.`run_id`, `i`.`id_ref`, `i`.`call_id`, `i`.`round`, `i`.`position`, `i`.`question`, `i`.`key`, `i`.`request_state`, `i`.`created_at`,
	CASE WHEN `r`.`ended_at` IS NULL THEN `i`.`answer` END,
	CASE WHEN `i`.`answer` IS NOT NULL THEN 'answered' WHEN `r`.`ended_at` IS NOT NULL THEN 'void' ELSE 'pending' END,
	CASE WHEN `i`.`answer` IS NULL THEN `r`.`ended_at` END,
	`r`.`ended_at`,
	`r`.`user_id`
FROM `run_inputs` AS `i` JOIN `runs` AS `r` ON `r`.`id` = `i`.`run_id`;
--> statement-breakpoint
DROP TABLE `run_inputs`;
--> statement-breakpoint
ALTER TABLE `__new_run_inputs` RENAME TO `run_inputs`;
--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_id` ON `approvals` (`id`);
--> statement-breakpoint
CREATE INDEX `approvals_user` ON `approvals` (`user_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `approvals_user_pending` ON `approvals` (`user_id`,`created_at`,`id`) WHERE "approvals"."status" = 'pending';
--> statement-breakpoint
CREATE UNIQUE INDEX `run_inputs_id` ON `run_inputs` (`id`);
--> statement-breakpoint
CREATE INDEX `run_inputs_user` ON `run_inputs` (`user_id`,`created_at`,`id`);

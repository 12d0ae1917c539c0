ALTER TABLE `runs` RENAME COLUMN `round` TO `iteration`;
--> statement-breakpoint
-- Replaced in the JSON text: within a string value the quotes would be escaped, so only the key matches.
UPDATE `runs` SET `state` = replace(`state`, '"roundLimit":', '"iterationLimit":') WHERE `state` LIKE '%"roundLimit":%';
--> statement-breakpoint
UPDATE `sub_agent_events` SET `event` = '{"type":"iteration"' || substr(`event`, length('{"type":"round"') + 1) WHERE `event` LIKE '{"type":"round"%';
--> statement-breakpoint
UPDATE `sub_agent_events` SET `event` = '{"type":"result"' || substr(`event`, length('{"type":"answered"') + 1) WHERE `event` LIKE '{"type":"answered"%';
--> statement-breakpoint
-- The more specific reason of a failed model call was one of its parameters.
UPDATE `runs` SET `error` = json_set(
	json_remove(`error`, '$.params.reason'),
	'$.reason', json_extract(`error`, '$.code') || '_' || json_extract(`error`, '$.params.reason')
) WHERE json_extract(`error`, '$.params.reason') IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `deliveries` ADD `last_failure` text;
--> statement-breakpoint
ALTER TABLE `documents` ADD `failure` text;

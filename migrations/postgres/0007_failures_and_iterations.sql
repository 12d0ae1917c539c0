ALTER TABLE "runs" RENAME COLUMN "round" TO "iteration";
--> statement-breakpoint
-- Replaced in the JSON text: within a string value the quotes would be escaped, so only the key matches.
UPDATE "runs" SET "state" = replace("state"::text, '"roundLimit":', '"iterationLimit":')::json WHERE "state"::text LIKE '%"roundLimit":%';
--> statement-breakpoint
UPDATE "sub_agent_events" SET "event" = ('{"type":"iteration"' || substr("event"::text, length('{"type":"round"') + 1))::json WHERE "event"::text LIKE '{"type":"round"%';
--> statement-breakpoint
UPDATE "sub_agent_events" SET "event" = ('{"type":"result"' || substr("event"::text, length('{"type":"answered"') + 1))::json WHERE "event"::text LIKE '{"type":"answered"%';
--> statement-breakpoint
-- The more specific reason of a failed model call was one of its parameters. Rows with a NUL are left as they are: `jsonb` rejects them.
UPDATE "runs" SET "error" = (
	("error"::jsonb #- '{params,reason}')
	|| jsonb_build_object('reason', ("error"::jsonb ->> 'code') || '_' || ("error"::jsonb #>> '{params,reason}'))
)::json WHERE CASE WHEN "error"::text LIKE '%\\u0000%' THEN false ELSE "error" #>> '{params,reason}' IS NOT NULL END;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "last_failure" json;
--> statement-breakpoint
ALTER TABLE "documents" ADD COLUMN "failure" json;

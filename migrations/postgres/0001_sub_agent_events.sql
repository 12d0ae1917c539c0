CREATE TABLE "sub_agent_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"position" integer NOT NULL,
	"event" json NOT NULL
);
--> statement-breakpoint
-- Missing vectors are computed again from their passages.
DELETE FROM "passage_vectors";
--> statement-breakpoint
ALTER TABLE "passage_vectors" ALTER COLUMN "vector" SET DATA TYPE bytea USING ''::bytea;
--> statement-breakpoint
ALTER TABLE "sub_agent_events" ADD CONSTRAINT "sub_agent_events_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "sub_agent_events_call" ON "sub_agent_events" USING btree ("run_id","call_id","id");

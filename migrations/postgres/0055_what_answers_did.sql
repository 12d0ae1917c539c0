CREATE TABLE "nested_calls" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"call_id" text NOT NULL,
	"position" integer NOT NULL,
	"id_ref" text NOT NULL,
	"name" text NOT NULL,
	"arguments" text NOT NULL,
	"outcome" json
);
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "receipt" json;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "plan" json;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "citations" json;
--> statement-breakpoint
ALTER TABLE "nested_calls" ADD CONSTRAINT "nested_calls_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "nested_calls_call" ON "nested_calls" USING btree ("run_id","call_id","position","id_ref");
--> statement-breakpoint
CREATE INDEX "checkpoints_message" ON "checkpoints" USING btree ("message_id") WHERE "checkpoints"."message_id" is not null;

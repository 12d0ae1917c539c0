CREATE TABLE "run_inputs" (
	"run_id" text NOT NULL,
	"id_ref" text NOT NULL,
	"call_id" text NOT NULL,
	"round" integer NOT NULL,
	"position" integer NOT NULL,
	"question" json NOT NULL,
	"key" text,
	"request_state" text,
	"answer" json,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "run_inputs_run_id_id_ref_pk" PRIMARY KEY("run_id","id_ref")
);
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD CONSTRAINT "run_inputs_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;

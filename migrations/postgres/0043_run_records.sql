CREATE TABLE "prompt_parts" (
	"conversation_id" text NOT NULL,
	"hash" text NOT NULL,
	"characters" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "prompt_parts_conversation_id_hash_pk" PRIMARY KEY("conversation_id","hash")
);
--> statement-breakpoint
CREATE TABLE "run_records" (
	"run_id" text NOT NULL,
	"attempt" integer NOT NULL,
	"number" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"record" json NOT NULL,
	CONSTRAINT "run_records_run_id_attempt_number_pk" PRIMARY KEY("run_id","attempt","number")
);
--> statement-breakpoint
ALTER TABLE "prompt_parts" ADD CONSTRAINT "prompt_parts_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "run_records" ADD CONSTRAINT "run_records_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "run_records_created" ON "run_records" USING btree ("created_at");

CREATE TABLE "grants" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"conversation_id" text,
	"project_id" text,
	"run_id" text,
	"tool" text NOT NULL,
	"tool_print" text,
	"arguments_match" json,
	"even_tainted" boolean NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"max_uses" integer,
	"uses" integer NOT NULL,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_from" text
);
--> statement-breakpoint
CREATE TABLE "grant_uses" (
	"grant_id" text NOT NULL,
	"run_id" text NOT NULL,
	"id_ref" text NOT NULL,
	CONSTRAINT "grant_uses_grant_id_run_id_id_ref_pk" PRIMARY KEY("grant_id","run_id","id_ref")
);
--> statement-breakpoint
ALTER TABLE "steps" ADD COLUMN "grant_id" text;
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "grant_uses" ADD CONSTRAINT "grant_uses_grant_id_grants_id_fk" FOREIGN KEY ("grant_id") REFERENCES "public"."grants"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "grant_uses" ADD CONSTRAINT "grant_uses_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "grants_user" ON "grants" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "grants_tool" ON "grants" USING btree ("user_id","tool");
--> statement-breakpoint
CREATE INDEX "grants_conversation" ON "grants" USING btree ("conversation_id");
--> statement-breakpoint
CREATE INDEX "grants_project" ON "grants" USING btree ("project_id");
--> statement-breakpoint
CREATE INDEX "grants_run" ON "grants" USING btree ("run_id");
--> statement-breakpoint
CREATE INDEX "grant_uses_run" ON "grant_uses" USING btree ("run_id");

--> statement-breakpoint
INSERT INTO "grants" ("id", "user_id", "conversation_id", "tool", "tool_print", "even_tainted", "uses", "created_at")
SELECT replace(gen_random_uuid()::text, '-', ''), "conversations"."user_id", "conversations"."id",
	split_part("remembered"."value", '@', 1), nullif(split_part("remembered"."value", '@', 2), ''),
	false, 0, "conversations"."updated_at"
FROM "conversations", json_array_elements_text("conversations"."approval_grants") AS "remembered"("value");
--> statement-breakpoint
INSERT INTO "grants" ("id", "user_id", "conversation_id", "run_id", "tool", "tool_print", "even_tainted", "uses", "created_at")
SELECT replace(gen_random_uuid()::text, '-', ''), "runs"."user_id", "runs"."conversation_id", "runs"."id",
	split_part("remembered"."value", '@', 1), nullif(split_part("remembered"."value", '@', 2), ''),
	false, 0, "runs"."created_at"
FROM "runs", json_array_elements_text(coalesce("runs"."state"->'grants', '[]')) AS "remembered"("value")
WHERE "runs"."ended_at" IS NULL;

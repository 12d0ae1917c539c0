CREATE TABLE "schedules" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"project_id" text,
	"conversation_id" text,
	"name" text NOT NULL,
	"settings" json NOT NULL,
	"enabled" boolean NOT NULL,
	"disabled_reason" text,
	"next_at" timestamp (3) with time zone,
	"since" timestamp (3) with time zone NOT NULL,
	"failures" integer NOT NULL,
	"watched_at" timestamp (3) with time zone,
	"watch_failures" integer NOT NULL,
	"hook_hash" text,
	"sealed_hook_secret" text,
	"created_by_run" text,
	"tools" json,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "occurrences" (
	"id" text PRIMARY KEY NOT NULL,
	"schedule_id" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"trigger_kind" text NOT NULL,
	"state" text NOT NULL,
	"reason" text,
	"detail" text,
	"count" integer NOT NULL,
	"request_key" text,
	"input" json,
	"conversation_id" text,
	"run_id" text,
	"message_id" text,
	"checks" json NOT NULL,
	"cost" json,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"untold" json
);
--> statement-breakpoint
CREATE TABLE "schedule_watches" (
	"schedule_id" text PRIMARY KEY NOT NULL,
	"content" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "schedule_id" text;
--> statement-breakpoint
ALTER TABLE "messages" ADD COLUMN "quiet" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedules"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "occurrences" ADD CONSTRAINT "occurrences_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "schedule_watches" ADD CONSTRAINT "schedule_watches_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedules"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "schedules_user" ON "schedules" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "schedules_due" ON "schedules" USING btree ("next_at") WHERE "schedules"."next_at" is not null;
--> statement-breakpoint
CREATE INDEX "schedules_project" ON "schedules" USING btree ("project_id");
--> statement-breakpoint
CREATE INDEX "schedules_conversation" ON "schedules" USING btree ("conversation_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_hook" ON "schedules" USING btree ("hook_hash") WHERE "schedules"."hook_hash" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX "occurrences_due" ON "occurrences" USING btree ("schedule_id","due_at") WHERE "occurrences"."trigger_kind" = 'clock';
--> statement-breakpoint
CREATE UNIQUE INDEX "occurrences_request" ON "occurrences" USING btree ("schedule_id","request_key") WHERE "occurrences"."request_key" is not null;
--> statement-breakpoint
CREATE INDEX "occurrences_list" ON "occurrences" USING btree ("schedule_id","due_at","id");
--> statement-breakpoint
CREATE INDEX "occurrences_conversation" ON "occurrences" USING btree ("conversation_id");
--> statement-breakpoint
CREATE INDEX "occurrences_open" ON "occurrences" USING btree ("created_at") WHERE "occurrences"."state" in ('running', 'waiting') or "occurrences"."untold" is not null;

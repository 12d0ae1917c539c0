CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "approvals" (
	"run_id" text NOT NULL,
	"id_ref" text NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"arguments" text NOT NULL,
	"risk_level" text NOT NULL,
	"preview" json,
	"status" text NOT NULL,
	"reason" text,
	"decided_arguments" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"decided_at" timestamp (3) with time zone,
	CONSTRAINT "approvals_run_id_id_ref_pk" PRIMARY KEY("run_id","id_ref")
);
--> statement-breakpoint
CREATE TABLE "attachments" (
	"message_id" text NOT NULL,
	"position" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"extension" text,
	"mime" text,
	"content" text NOT NULL,
	CONSTRAINT "attachments_message_id_position_pk" PRIMARY KEY("message_id","position")
);
--> statement-breakpoint
CREATE TABLE "channels" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"type" text NOT NULL,
	"name" text NOT NULL,
	"sealed_settings" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "checkpoints" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"message_id" text,
	"run_id" text,
	"tool" text NOT NULL,
	"files" json NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversations" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"project_id" text,
	"title" text NOT NULL,
	"title_key" text NOT NULL,
	"model" text,
	"system_prompt" text,
	"temperature" double precision,
	"max_tokens" integer,
	"thinking_enabled" boolean NOT NULL,
	"approval" text,
	"disabled_mcp_servers" json NOT NULL,
	"approval_grants" json NOT NULL,
	"tainted" boolean NOT NULL,
	"pinned" boolean NOT NULL,
	"archived" boolean NOT NULL,
	"leaf_id" text,
	"message_count" integer NOT NULL,
	"titled" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"channel_id" text NOT NULL,
	"conversation_id" text,
	"content" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "documents" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"mime" text NOT NULL,
	"size" bigint NOT NULL,
	"status" text NOT NULL,
	"error" text,
	"passages" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memories" (
	"user_id" text PRIMARY KEY NOT NULL,
	"content" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "messages" (
	"row" bigserial PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"parent_id" text,
	"role" text NOT NULL,
	"text" text NOT NULL,
	"token_count" integer NOT NULL,
	"model" text,
	"run_id" text,
	"status" text NOT NULL,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "messages_id" UNIQUE("id")
);
--> statement-breakpoint
CREATE TABLE "models" (
	"id" text PRIMARY KEY NOT NULL,
	"settings" json NOT NULL,
	"sealed_api_key" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passage_vectors" (
	"passage_id" bigint PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"model" text NOT NULL,
	"vector" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passages" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"document_id" text NOT NULL,
	"project_id" text NOT NULL,
	"position" integer NOT NULL,
	"heading" text,
	"page" integer,
	"text" text NOT NULL,
	"tokens" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "revoked_tokens" (
	"jti" text PRIMARY KEY NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "runs" (
	"id" text PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	"user_id" text NOT NULL,
	"project_id" text,
	"message_id" text NOT NULL,
	"user_message_id" text,
	"parent_run_id" text,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"model" text NOT NULL,
	"options" json NOT NULL,
	"client_id" text,
	"attempt" integer NOT NULL,
	"round" integer NOT NULL,
	"prompt_tokens" integer NOT NULL,
	"completion_tokens" integer NOT NULL,
	"last_event" integer NOT NULL,
	"finish_reason" text,
	"error" json,
	"state" json,
	"owner" text,
	"heartbeat_at" timestamp (3) with time zone,
	"stop_requested" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "steps" (
	"message_id" text NOT NULL,
	"position" integer NOT NULL,
	"type" text NOT NULL,
	"content" text NOT NULL,
	"id_ref" text,
	"name" text,
	"skipped" boolean NOT NULL,
	"artifact" json,
	"closed" boolean NOT NULL,
	"first_event" integer,
	"cuts" text,
	"started_at" timestamp (3) with time zone,
	CONSTRAINT "steps_message_id_position_pk" PRIMARY KEY("message_id","position")
);
--> statement-breakpoint
CREATE TABLE "summaries" (
	"conversation_id" text NOT NULL,
	"until_message_id" text NOT NULL,
	"text" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "summaries_conversation_id_until_message_id_pk" PRIMARY KEY("conversation_id","until_message_id")
);
--> statement-breakpoint
CREATE TABLE "token_usage" (
	"user_id" text NOT NULL,
	"day" text NOT NULL,
	"hour" integer NOT NULL,
	"model" text NOT NULL,
	"currency" text DEFAULT '' NOT NULL,
	"prompt_tokens" bigint NOT NULL,
	"completion_tokens" bigint NOT NULL,
	"cost" double precision NOT NULL,
	CONSTRAINT "token_usage_user_id_day_hour_model_currency_pk" PRIMARY KEY("user_id","day","hour","model","currency")
);
--> statement-breakpoint
CREATE TABLE "tool_results" (
	"handle" text PRIMARY KEY NOT NULL,
	"conversation_id" text NOT NULL,
	"run_id" text NOT NULL,
	"content" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"username" text NOT NULL,
	"username_key" text NOT NULL,
	"password_hash" text,
	"email" text,
	"email_key" text,
	"avatar" text,
	"role" text NOT NULL,
	"is_active" boolean NOT NULL,
	"token_version" integer NOT NULL,
	"kept_token" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_message_id_messages_id_fk" FOREIGN KEY ("message_id") REFERENCES "public"."messages"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "channels" ADD CONSTRAINT "channels_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "checkpoints" ADD CONSTRAINT "checkpoints_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "documents" ADD CONSTRAINT "documents_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "messages" ADD CONSTRAINT "messages_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "passage_vectors" ADD CONSTRAINT "passage_vectors_passage_id_passages_id_fk" FOREIGN KEY ("passage_id") REFERENCES "public"."passages"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "passages" ADD CONSTRAINT "passages_document_id_documents_id_fk" FOREIGN KEY ("document_id") REFERENCES "public"."documents"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "steps" ADD CONSTRAINT "steps_message_id_messages_id_fk" FOREIGN KEY ("message_id") REFERENCES "public"."messages"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "summaries" ADD CONSTRAINT "summaries_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "token_usage" ADD CONSTRAINT "token_usage_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "tool_results" ADD CONSTRAINT "tool_results_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");
--> statement-breakpoint
CREATE INDEX "api_keys_user" ON "api_keys" USING btree ("user_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "channels_user_name" ON "channels" USING btree ("user_id","name");
--> statement-breakpoint
CREATE INDEX "checkpoints_project" ON "checkpoints" USING btree ("project_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "conversations_list" ON "conversations" USING btree ("user_id","archived","updated_at","id");
--> statement-breakpoint
CREATE INDEX "conversations_list_in_project" ON "conversations" USING btree ("user_id","project_id","archived","updated_at","id");
--> statement-breakpoint
CREATE INDEX "conversations_project" ON "conversations" USING btree ("project_id");
--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("status","next_attempt_at");
--> statement-breakpoint
CREATE INDEX "deliveries_channel" ON "deliveries" USING btree ("channel_id");
--> statement-breakpoint
CREATE INDEX "documents_project" ON "documents" USING btree ("project_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "messages_conversation" ON "messages" USING btree ("conversation_id","parent_id","row");
--> statement-breakpoint
CREATE INDEX "messages_parent" ON "messages" USING btree ("parent_id");
--> statement-breakpoint
CREATE INDEX "passage_vectors_project" ON "passage_vectors" USING btree ("project_id","model","passage_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "passages_document" ON "passages" USING btree ("document_id","position");
--> statement-breakpoint
CREATE INDEX "passages_project" ON "passages" USING btree ("project_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "projects_user_name" ON "projects" USING btree ("user_id","name");
--> statement-breakpoint
CREATE INDEX "projects_user_updated" ON "projects" USING btree ("user_id","updated_at","id");
--> statement-breakpoint
CREATE INDEX "revoked_tokens_expires" ON "revoked_tokens" USING btree ("expires_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "runs_one_active" ON "runs" USING btree ("conversation_id") WHERE "runs"."kind" = 'chat' and "runs"."ended_at" is null;
--> statement-breakpoint
CREATE UNIQUE INDEX "runs_client_id" ON "runs" USING btree ("conversation_id","client_id");
--> statement-breakpoint
CREATE INDEX "runs_unfinished" ON "runs" USING btree ("created_at") WHERE "runs"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX "runs_user_unfinished" ON "runs" USING btree ("user_id") WHERE "runs"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX "runs_conversation" ON "runs" USING btree ("conversation_id","created_at");
--> statement-breakpoint
CREATE INDEX "runs_parent" ON "runs" USING btree ("parent_run_id");
--> statement-breakpoint
CREATE INDEX "tool_results_conversation" ON "tool_results" USING btree ("conversation_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_key" ON "users" USING btree ("username_key");
--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree ("email_key");
--> statement-breakpoint
ALTER TABLE "passages" ADD COLUMN "tokens_index" tsvector GENERATED ALWAYS AS (to_tsvector('simple', "tokens")) STORED;
--> statement-breakpoint
CREATE INDEX "passages_tokens" ON "passages" USING gin ("tokens_index");

CREATE TABLE "senders" (
	"id" text PRIMARY KEY NOT NULL,
	"channel_id" text NOT NULL,
	"user_id" text,
	"external_id" text NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"code_hash" text,
	"code_expires_at" timestamp (3) with time zone,
	"told_at" timestamp (3) with time zone,
	"requested_at" timestamp (3) with time zone NOT NULL,
	"allowed_at" timestamp (3) with time zone,
	"last_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "chats" (
	"id" text PRIMARY KEY NOT NULL,
	"channel_id" text NOT NULL,
	"user_id" text NOT NULL,
	"external_id" text NOT NULL,
	"thread_id" text NOT NULL,
	"name" text NOT NULL,
	"is_private" boolean NOT NULL,
	"conversation_id" text,
	"choice" json,
	"is_full_told" boolean NOT NULL,
	"progress_id" text,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "incoming_messages" (
	"position" bigserial PRIMARY KEY NOT NULL,
	"channel_id" text NOT NULL,
	"external_id" text NOT NULL,
	"chat_id" text NOT NULL,
	"sender_id" text,
	"kind" text NOT NULL,
	"state" text NOT NULL,
	"content" json,
	"conversation_id" text,
	"turn_id" text,
	"run_id" text,
	"started_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outgoing_parts" (
	"position" bigserial PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"chat_id" text NOT NULL,
	"reference" text,
	"external_id" text,
	"leased_until" timestamp (3) with time zone,
	"content" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"last_error" text,
	"last_failure" json,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "receive" json;
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "state" text;
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "fault" json;
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "place" text;
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "token_hash" text;
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "bot_hash" text;
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "channel" json;
--> statement-breakpoint
ALTER TABLE "senders" ADD CONSTRAINT "senders_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "senders" ADD CONSTRAINT "senders_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "chats" ADD CONSTRAINT "chats_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "chats" ADD CONSTRAINT "chats_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "chats" ADD CONSTRAINT "chats_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "incoming_messages" ADD CONSTRAINT "incoming_messages_channel_id_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."channels"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "incoming_messages" ADD CONSTRAINT "incoming_messages_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "incoming_messages" ADD CONSTRAINT "incoming_messages_sender_id_senders_id_fk" FOREIGN KEY ("sender_id") REFERENCES "public"."senders"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "outgoing_parts" ADD CONSTRAINT "outgoing_parts_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "senders_external" ON "senders" USING btree ("channel_id","external_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "senders_code" ON "senders" USING btree ("code_hash") WHERE "senders"."code_hash" is not null;
--> statement-breakpoint
CREATE INDEX "senders_list" ON "senders" USING btree ("channel_id","requested_at","id");
--> statement-breakpoint
CREATE INDEX "senders_user" ON "senders" USING btree ("user_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "chats_external" ON "chats" USING btree ("channel_id","external_id","thread_id","user_id");
--> statement-breakpoint
CREATE INDEX "chats_conversation" ON "chats" USING btree ("conversation_id");
--> statement-breakpoint
CREATE INDEX "chats_user" ON "chats" USING btree ("user_id");
--> statement-breakpoint
CREATE UNIQUE INDEX "incoming_messages_external" ON "incoming_messages" USING btree ("channel_id","external_id");
--> statement-breakpoint
CREATE INDEX "incoming_messages_chat" ON "incoming_messages" USING btree ("chat_id","position");
--> statement-breakpoint
CREATE INDEX "incoming_messages_open" ON "incoming_messages" USING btree ("chat_id") WHERE "incoming_messages"."state" in ('waiting', 'starting', 'running');
--> statement-breakpoint
CREATE INDEX "incoming_messages_age" ON "incoming_messages" USING btree ("created_at");
--> statement-breakpoint
CREATE INDEX "incoming_messages_sender" ON "incoming_messages" USING btree ("sender_id","started_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "outgoing_parts_id" ON "outgoing_parts" USING btree ("id");
--> statement-breakpoint
CREATE UNIQUE INDEX "outgoing_parts_reference" ON "outgoing_parts" USING btree ("chat_id","reference") WHERE "outgoing_parts"."reference" is not null;
--> statement-breakpoint
CREATE INDEX "outgoing_parts_chat" ON "outgoing_parts" USING btree ("chat_id","position");
--> statement-breakpoint
CREATE INDEX "outgoing_parts_due" ON "outgoing_parts" USING btree ("next_attempt_at") WHERE "outgoing_parts"."status" = 'pending';
--> statement-breakpoint
CREATE INDEX "outgoing_parts_age" ON "outgoing_parts" USING btree ("created_at");
--> statement-breakpoint
CREATE UNIQUE INDEX "channels_bot" ON "channels" USING btree ("bot_hash") WHERE "channels"."bot_hash" is not null;

CREATE TABLE "share_files" (
	"share_id" text NOT NULL,
	"revision" text NOT NULL,
	"position" integer NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"mime" text,
	"content" text NOT NULL,
	CONSTRAINT "share_files_share_id_revision_position_pk" PRIMARY KEY("share_id","revision","position")
);
--> statement-breakpoint
CREATE TABLE "share_messages" (
	"share_id" text NOT NULL,
	"revision" text NOT NULL,
	"position" integer NOT NULL,
	"content" text NOT NULL,
	CONSTRAINT "share_messages_share_id_revision_position_pk" PRIMARY KEY("share_id","revision","position")
);
--> statement-breakpoint
CREATE TABLE "shares" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"conversation_id" text NOT NULL,
	"token_hash" text NOT NULL,
	"sealed_token" text NOT NULL,
	"password_hash" text,
	"include" json NOT NULL,
	"title" text NOT NULL,
	"revision" text,
	"views" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"renewed_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "share_files" ADD CONSTRAINT "share_files_share_id_shares_id_fk" FOREIGN KEY ("share_id") REFERENCES "public"."shares"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "share_messages" ADD CONSTRAINT "share_messages_share_id_shares_id_fk" FOREIGN KEY ("share_id") REFERENCES "public"."shares"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "shares" ADD CONSTRAINT "shares_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "shares" ADD CONSTRAINT "shares_conversation_id_conversations_id_fk" FOREIGN KEY ("conversation_id") REFERENCES "public"."conversations"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "shares_token" ON "shares" USING btree ("token_hash");
--> statement-breakpoint
CREATE UNIQUE INDEX "shares_conversation" ON "shares" USING btree ("conversation_id");
--> statement-breakpoint
CREATE INDEX "shares_user" ON "shares" USING btree ("user_id","created_at","id");

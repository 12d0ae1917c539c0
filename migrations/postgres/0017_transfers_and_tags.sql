CREATE TABLE "transfers" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"name" text,
	"format" text,
	"done" bigint NOT NULL,
	"total" bigint NOT NULL,
	"size" bigint,
	"report" json,
	"failure" json,
	"created_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "tags" json DEFAULT '[]'::json NOT NULL;
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "origin" text;
--> statement-breakpoint
ALTER TABLE "transfers" ADD CONSTRAINT "transfers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "transfers_user" ON "transfers" USING btree ("user_id","kind","created_at");
--> statement-breakpoint
CREATE INDEX "transfers_unfinished" ON "transfers" USING btree ("created_at") WHERE "transfers"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX "transfers_ended" ON "transfers" USING btree ("ended_at") WHERE "transfers"."ended_at" is not null;
--> statement-breakpoint
CREATE UNIQUE INDEX "conversations_origin" ON "conversations" USING btree ("user_id","origin") WHERE "conversations"."origin" is not null;

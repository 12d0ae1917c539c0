CREATE TABLE "files" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"mime" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"thumbnail_sha256" text,
	"width" integer,
	"height" integer,
	"pages" integer,
	"failure" json,
	"created_at" timestamp (3) with time zone NOT NULL,
	"characters" integer,
	"text" text
);
--> statement-breakpoint
ALTER TABLE "attachments" ADD COLUMN "file_id" text;
--> statement-breakpoint
ALTER TABLE "share_files" ADD COLUMN "sha256" text;
--> statement-breakpoint
ALTER TABLE "share_files" ADD COLUMN "size" bigint;
--> statement-breakpoint
ALTER TABLE "files" ADD CONSTRAINT "files_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "files_user" ON "files" USING btree ("user_id","size");
--> statement-breakpoint
CREATE INDEX "files_created" ON "files" USING btree ("created_at");
--> statement-breakpoint
CREATE INDEX "files_blob" ON "files" USING btree ("sha256");
--> statement-breakpoint
CREATE INDEX "files_thumbnail" ON "files" USING btree ("thumbnail_sha256") WHERE "files"."thumbnail_sha256" is not null;
--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_file_id_files_id_fk" FOREIGN KEY ("file_id") REFERENCES "public"."files"("id") ON DELETE no action ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "attachments_file" ON "attachments" USING btree ("file_id");
--> statement-breakpoint
CREATE INDEX "attachments_inline" ON "attachments" USING btree ("message_id") WHERE "attachments"."file_id" is null;
--> statement-breakpoint
CREATE INDEX "share_files_blob" ON "share_files" USING btree ("sha256") WHERE "share_files"."sha256" is not null;

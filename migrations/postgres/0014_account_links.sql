CREATE TABLE "account_links" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"hash" text NOT NULL,
	"role" text NOT NULL,
	"note" text,
	"created_by" text,
	"user_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "account_links_hash" ON "account_links" USING btree ("hash");
--> statement-breakpoint
CREATE INDEX "account_links_created" ON "account_links" USING btree ("kind","created_at","id");
--> statement-breakpoint
CREATE INDEX "account_links_user" ON "account_links" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "account_links_creator" ON "account_links" USING btree ("created_by");

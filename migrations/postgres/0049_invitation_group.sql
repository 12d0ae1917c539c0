ALTER TABLE "account_links" ADD COLUMN "group_id" text;
--> statement-breakpoint
ALTER TABLE "account_links" ADD CONSTRAINT "account_links_group_id_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."groups"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "token_usage_day" ON "token_usage" USING btree ("day","user_id");

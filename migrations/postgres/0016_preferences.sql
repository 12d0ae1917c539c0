CREATE TABLE "preferences" (
	"user_id" text PRIMARY KEY NOT NULL,
	"value" json NOT NULL
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "settings" json;
--> statement-breakpoint
ALTER TABLE "preferences" ADD CONSTRAINT "preferences_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;

CREATE TABLE "apps" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token_hash" text NOT NULL,
	"session_id" text,
	"api_key_id" text,
	"project_id" text NOT NULL,
	"path" text NOT NULL,
	"checkpoint_id" text,
	"kind" text NOT NULL,
	"apps_origin" text,
	"page_origin" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "app_networks" (
	"user_id" text NOT NULL,
	"project_id" text NOT NULL,
	"path" text NOT NULL,
	"outside" json NOT NULL,
	"allowed_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "app_networks_user_id_project_id_path_pk" PRIMARY KEY("user_id","project_id","path")
);
--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_api_key_id_api_keys_id_fk" FOREIGN KEY ("api_key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "app_networks" ADD CONSTRAINT "app_networks_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "app_networks" ADD CONSTRAINT "app_networks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "apps_token" ON "apps" USING btree ("token_hash");
--> statement-breakpoint
CREATE INDEX "apps_user" ON "apps" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "apps_session" ON "apps" USING btree ("session_id");
--> statement-breakpoint
CREATE INDEX "apps_key" ON "apps" USING btree ("api_key_id");
--> statement-breakpoint
CREATE INDEX "apps_project" ON "apps" USING btree ("project_id");
--> statement-breakpoint
CREATE INDEX "app_networks_project" ON "app_networks" USING btree ("project_id");

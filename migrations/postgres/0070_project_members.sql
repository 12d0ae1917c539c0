CREATE TABLE "project_members" (
	"project_id" text NOT NULL,
	"principal" text NOT NULL,
	"user_id" text,
	"group_id" text,
	"role" text NOT NULL,
	CONSTRAINT "project_members_project_id_principal_pk" PRIMARY KEY("project_id","principal")
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "creator_role" text DEFAULT 'own';
--> statement-breakpoint
ALTER TABLE "checkpoints" ADD COLUMN "actor_id" text;
--> statement-breakpoint
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_group_id_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."groups"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "project_members_principal" ON "project_members" USING btree ("principal");
--> statement-breakpoint
CREATE INDEX "project_members_user" ON "project_members" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "project_members_group" ON "project_members" USING btree ("group_id");

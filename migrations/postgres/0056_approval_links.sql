CREATE TABLE "project_approvers" (
	"project_id" text NOT NULL,
	"principal" text NOT NULL,
	"user_id" text,
	"group_id" text,
	CONSTRAINT "project_approvers_project_id_principal_pk" PRIMARY KEY("project_id","principal")
);
--> statement-breakpoint
CREATE TABLE "approval_links" (
	"hash" text PRIMARY KEY NOT NULL,
	"run_id" text NOT NULL,
	"approval_id" text NOT NULL,
	"user_id" text NOT NULL,
	"call_hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_notices" (
	"request_id" text NOT NULL,
	"through" text NOT NULL,
	"run_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "request_notices_request_id_through_pk" PRIMARY KEY("request_id","through")
);
--> statement-breakpoint
ALTER TABLE "project_approvers" ADD CONSTRAINT "project_approvers_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "project_approvers" ADD CONSTRAINT "project_approvers_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "project_approvers" ADD CONSTRAINT "project_approvers_group_id_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."groups"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "approval_links" ADD CONSTRAINT "approval_links_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "request_notices" ADD CONSTRAINT "request_notices_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "project_approvers_user" ON "project_approvers" USING btree ("user_id");
--> statement-breakpoint
CREATE INDEX "project_approvers_group" ON "project_approvers" USING btree ("group_id");
--> statement-breakpoint
CREATE INDEX "approval_links_request" ON "approval_links" USING btree ("approval_id","expires_at");
--> statement-breakpoint
CREATE INDEX "approval_links_run" ON "approval_links" USING btree ("run_id");
--> statement-breakpoint
CREATE INDEX "request_notices_run" ON "request_notices" USING btree ("run_id");

ALTER TABLE "projects" ADD COLUMN "scratch" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "conversations" ADD COLUMN "scratch_project_id" text;
--> statement-breakpoint
ALTER TABLE "conversations" ADD CONSTRAINT "conversations_scratch_project_id_projects_id_fk" FOREIGN KEY ("scratch_project_id") REFERENCES "public"."projects"("id") ON DELETE set null ON UPDATE no action;
--> statement-breakpoint
CREATE UNIQUE INDEX "conversations_scratch_project" ON "conversations" USING btree ("scratch_project_id");

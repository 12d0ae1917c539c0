DROP INDEX "projects_user_name";
--> statement-breakpoint
CREATE INDEX "runs_project" ON "runs" USING btree ("project_id","user_id") WHERE "runs"."project_id" is not null;
--> statement-breakpoint
CREATE INDEX "projects_user_name" ON "projects" USING btree ("user_id","name");

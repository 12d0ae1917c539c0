ALTER TABLE "projects" ADD COLUMN "icon" text;
--> statement-breakpoint
CREATE INDEX "projects_icon" ON "projects" USING btree ("icon");

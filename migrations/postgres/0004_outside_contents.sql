CREATE TABLE "outside_contents" (
	"project_id" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "outside_contents_project_id_hash_pk" PRIMARY KEY("project_id","hash")
);
--> statement-breakpoint
ALTER TABLE "outside_contents" ADD CONSTRAINT "outside_contents_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;

CREATE TABLE "removed_projects" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL
);

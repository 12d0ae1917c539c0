CREATE TABLE "consents" (
	"user_id" text NOT NULL,
	"what" text NOT NULL,
	"sha256" text NOT NULL,
	"decision" text NOT NULL,
	"project_id" text NOT NULL,
	"path" text NOT NULL,
	"files" json,
	"decided_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "consents_user_id_what_sha256_pk" PRIMARY KEY("user_id","what","sha256")
);
--> statement-breakpoint
CREATE TABLE "user_skills" (
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"size" bigint NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "user_skills_user_id_name_pk" PRIMARY KEY("user_id","name")
);
--> statement-breakpoint
CREATE TABLE "user_skill_files" (
	"user_id" text NOT NULL,
	"name" text NOT NULL,
	"path" text NOT NULL,
	"sha256" text NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "user_skill_files_user_id_name_path_pk" PRIMARY KEY("user_id","name","path")
);
--> statement-breakpoint
ALTER TABLE "consents" ADD CONSTRAINT "consents_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "user_skills" ADD CONSTRAINT "user_skills_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "user_skill_files" ADD CONSTRAINT "user_skill_files_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "consents_path" ON "consents" USING btree ("user_id","project_id","path","decided_at");

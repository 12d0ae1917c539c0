CREATE TABLE "app_calls" (
	"run_id" text NOT NULL,
	"id_ref" text NOT NULL,
	"app_ref" text NOT NULL,
	"user_id" text NOT NULL,
	"server" text NOT NULL,
	"tool" text NOT NULL,
	"name" text NOT NULL,
	"arguments" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"owner" text,
	"grant_id" text,
	"content" text,
	"artifact" json,
	"skipped" boolean DEFAULT false NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "app_calls_run_id_id_ref_pk" PRIMARY KEY("run_id","id_ref")
);
--> statement-breakpoint
CREATE TABLE "app_contexts" (
	"run_id" text NOT NULL,
	"app_ref" text NOT NULL,
	"server" text NOT NULL,
	"tool" text NOT NULL,
	"text" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "app_contexts_run_id_app_ref_pk" PRIMARY KEY("run_id","app_ref")
);
--> statement-breakpoint
ALTER TABLE "steps" ADD COLUMN "origin" text;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "by_app" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "app_calls" ADD CONSTRAINT "app_calls_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
ALTER TABLE "app_contexts" ADD CONSTRAINT "app_contexts_run_id_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."runs"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "app_calls_open" ON "app_calls" USING btree ("created_at") WHERE "app_calls"."ended_at" is null;
--> statement-breakpoint
CREATE INDEX "approvals_by_app" ON "approvals" USING btree ("created_at") WHERE "approvals"."by_app" and "approvals"."status" = 'pending';

ALTER TABLE "conversations" ADD COLUMN "approval_deadline" integer;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "id" text DEFAULT gen_random_uuid() NOT NULL;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "user_id" text DEFAULT '' NOT NULL;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "tainted" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "call_hash" text;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "deadline" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "decided_by" text;
--> statement-breakpoint
ALTER TABLE "approvals" ADD COLUMN "decided_through" text;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "status" text DEFAULT 'pending' NOT NULL;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "closed_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "id" text DEFAULT gen_random_uuid() NOT NULL;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "user_id" text DEFAULT '' NOT NULL;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "tainted" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "call_hash" text;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "deadline" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "decided_at" timestamp (3) with time zone;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "decided_by" text;
--> statement-breakpoint
ALTER TABLE "run_inputs" ADD COLUMN "decided_through" text;
--> statement-breakpoint
UPDATE "approvals" SET "user_id" = "runs"."user_id",
	"decided_at" = CASE WHEN "approvals"."status" = 'pending' THEN "runs"."ended_at" ELSE "approvals"."decided_at" END,
	"status" = CASE WHEN "approvals"."status" = 'pending' AND "runs"."ended_at" IS NOT NULL THEN 'void' ELSE "approvals"."status" END
FROM "runs" WHERE "runs"."id" = "approvals"."run_id";
--> statement-breakpoint
UPDATE "run_inputs" SET "user_id" = "runs"."user_id",
	"status" = CASE WHEN "run_inputs"."answer" IS NOT NULL THEN 'answered' WHEN "runs"."ended_at" IS NOT NULL THEN 'void' ELSE 'pending' END,
	"answer" = CASE WHEN "runs"."ended_at" IS NULL THEN "run_inputs"."answer" END,
	"decided_at" = CASE WHEN "run_inputs"."answer" IS NULL THEN "runs"."ended_at" END,
	"closed_at" = "runs"."ended_at"
FROM "runs" WHERE "runs"."id" = "run_inputs"."run_id";
--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_id" ON "approvals" USING btree ("id");
--> statement-breakpoint
CREATE INDEX "approvals_user" ON "approvals" USING btree ("user_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "approvals_user_pending" ON "approvals" USING btree ("user_id","created_at","id") WHERE "approvals"."status" = 'pending';
--> statement-breakpoint
CREATE UNIQUE INDEX "run_inputs_id" ON "run_inputs" USING btree ("id");
--> statement-breakpoint
CREATE INDEX "run_inputs_user" ON "run_inputs" USING btree ("user_id","created_at","id");

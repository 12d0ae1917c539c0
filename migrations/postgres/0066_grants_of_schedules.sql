ALTER TABLE "grants" ADD COLUMN "schedule_id" text;
--> statement-breakpoint
ALTER TABLE "grants" ADD CONSTRAINT "grants_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "public"."schedules"("id") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
CREATE INDEX "grants_schedule" ON "grants" USING btree ("schedule_id");

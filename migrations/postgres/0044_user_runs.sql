CREATE INDEX "runs_user" ON "runs" USING btree ("user_id","created_at","id");

CREATE INDEX "idempotency_keys_run" ON "idempotency_keys" USING btree ("run_id") WHERE "idempotency_keys"."run_id" is not null;

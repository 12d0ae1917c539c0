ALTER TABLE "runs" ADD COLUMN "stop_cause" text;

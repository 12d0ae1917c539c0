ALTER TABLE "runs" ADD COLUMN "reached_limit" json;

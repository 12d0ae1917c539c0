ALTER TABLE "runs" ADD COLUMN "timeline" json;

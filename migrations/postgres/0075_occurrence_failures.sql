ALTER TABLE "occurrences" ADD COLUMN "failure" json;

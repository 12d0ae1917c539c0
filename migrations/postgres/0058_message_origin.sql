ALTER TABLE "messages" ADD COLUMN "origin" json;

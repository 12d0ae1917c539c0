ALTER TABLE "attachments" ADD COLUMN "size" integer;

ALTER TABLE "runs" ADD COLUMN "version" integer DEFAULT 0 NOT NULL;
